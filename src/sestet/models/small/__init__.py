"""Tool calls for small models: a short prompt with examples, a schema, and a tolerant parser."""
