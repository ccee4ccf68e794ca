"""Documents: find files, read them as blocks, cut blocks into chunks, store what changed."""
