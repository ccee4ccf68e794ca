"""The librarian's room: search, retrieval, graph and knowledge."""
