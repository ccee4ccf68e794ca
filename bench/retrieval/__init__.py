"""The quality set of retrieval, and the measurements of recall and speed."""
