"""The schema of the database as an append-only list: never edit a migration that has landed."""

from sestet.storage.migrations.versions_1_to_8 import VERSIONS_1_TO_8
from sestet.storage.migrations.versions_9_onward import VERSIONS_9_ONWARD
from sestet.storage.migrations.versions_16_onward import VERSIONS_16_ONWARD

MIGRATIONS: tuple[str, ...] = (*VERSIONS_1_TO_8, *VERSIONS_9_ONWARD, *VERSIONS_16_ONWARD)
