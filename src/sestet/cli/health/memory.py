"""Checks of memory: what is observed, what waits, and what turns it on."""

from sestet.cli.health.check import Check
from sestet.config import Settings, data_directory
from sestet.core.errors import StorageError
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from sestet.storage.observation_progress import ObservationProgress

_NAME = "memory"


def check_memory(settings: Settings) -> list[Check]:
    """Nothing where the database cannot be read: that is reported elsewhere."""
    memory = settings.observational_memory
    if not memory.enabled:
        way_out = "observationalMemory.enabled: true turns observing on"
        return [Check(_NAME, "ok", "only what you ask to be remembered; nothing is observed", way_out)]
    path = data_directory() / FILE_NAME
    if not path.exists():
        return [Check(_NAME, "ok", "observes conversations; nothing is observed yet")]
    try:
        database = Database(path)
    except StorageError:
        return []
    try:
        return [_describe(ObservationProgress(database, Journal(database)), memory.observe_tokens)]
    except StorageError:
        return []
    finally:
        database.close()


def _describe(store: ObservationProgress, threshold: int) -> Check:
    observed, waiting = store.waiting()
    detail = f"{observed} turns observed, {waiting} waiting until a session has {threshold:,} tokens of them"
    if problem := store.work_sum().problem:
        return Check(
            _NAME, "warning", f"{detail}; the last time failed: {problem}", "it is tried again by itself"
        )
    return Check(_NAME, "ok", detail, "'sestet memory list' shows what is remembered")
