"""Shell commands: what a command line does, and running it in the sandbox."""
