"""The operator's room: shell, files and skills."""
