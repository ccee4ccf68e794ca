"""Model files: the catalogue, the files on this machine, and the download."""
