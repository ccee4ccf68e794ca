"""Rows: one SQLite file, one module a table family."""
