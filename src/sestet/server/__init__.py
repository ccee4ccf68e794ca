"""One server over HTTP: every surface is a reader of the same turns as the terminal."""
