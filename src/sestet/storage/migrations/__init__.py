"""The schema of the database as an append-only list: a migration that has landed is never edited."""

from sestet.storage.migrations.beginning import BEGINNING
from sestet.storage.migrations.graph import GRAPH
from sestet.storage.migrations.knowledge import KNOWLEDGE
from sestet.storage.migrations.memory import MEMORY

MIGRATIONS: tuple[str, ...] = (*BEGINNING, *KNOWLEDGE, *GRAPH, *MEMORY)
