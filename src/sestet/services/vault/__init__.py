"""Keeps secrets and keys: an encrypted file, the broker process that alone opens it, and the scanner."""
