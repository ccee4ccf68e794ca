"""The vault's room: cryptography, secrets and payments."""
