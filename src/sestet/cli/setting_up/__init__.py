"""Setting up: what there is to choose from, the turn that tries it, and the questions to the person."""
