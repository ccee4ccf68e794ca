"""Options that several commands have, and the numbers that they take."""

import typer

#: No number in the database is larger.
LARGEST = 2**63 - 1
LIMIT = typer.Option(min=1, max=100_000, metavar="N", help="How many at most.")
