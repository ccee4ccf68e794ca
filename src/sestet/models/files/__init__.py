"""Model files on this machine: which there can be, which there are, and how one gets here."""
