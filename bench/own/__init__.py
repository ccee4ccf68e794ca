"""The floor and Sestet.

Each module offers ``start(stage)``, an async context manager that yields a ``bench.script.Contestant``.
"""
