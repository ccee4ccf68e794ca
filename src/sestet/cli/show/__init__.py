"""Drawing: what the commands print, with dangerous characters removed."""
