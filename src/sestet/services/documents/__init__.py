"""Documents: finding files, reading them as blocks, cutting blocks into chunks, keeping what changed."""
