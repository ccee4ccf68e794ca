"""Checks of the stored data: the file, open turns, knowledge, documents, graph and memory."""

import os
import shutil
import sqlite3
from pathlib import Path

from sestet.config import Settings, data_directory
from sestet.core.errors import BusyError, StorageError
from sestet.doctor.check import PATIENCE, Check, read_database
from sestet.services.background_budget import BackgroundBudget
from sestet.services.files import human_size
from sestet.services.forgetting import UNWIPED
from sestet.storage.copying import COPY_NAMES
from sestet.storage.damage import find_damage
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.documents import DocumentStore
from sestet.storage.extractions import ExtractionStore
from sestet.storage.forgettings import Forgettings
from sestet.storage.graph import GraphStore
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.locks import SessionLocks
from sestet.storage.observation_progress import MOST_EMPTY_REPLIES, ObservationProgress
from sestet.storage.spending import SpendingStore

_DATABASE, _TURNS, _GRAPH, _MEMORY, _FORGETTING = "database", "turns", "graph", "memory", "forgetting"
_BACKGROUND = "background work"
#: The free space that SQLite needs beside the file, for the index of its log.
_ROOM_TO_OPEN = 100_000
_REFUSED = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def check_database() -> Check:
    """The state of the file; a warning when another process has locked it."""
    path = data_directory() / FILE_NAME
    if not path.exists():
        return Check(_DATABASE, "ok", "made by the first conversation")
    try:
        database = Database(path, patience=PATIENCE)
    except BusyError as error:
        return _locked(error)
    except StorageError as error:
        if error.__cause__ is None:
            # The file is another program's or a newer Sestet's; the error says so, with the way out.
            return Check(
                _DATABASE, "problem", str(error), "the file stays as it is until you do one of these"
            )
        return _broken(path, error.__cause__)
    try:
        (version,) = database.execute("PRAGMA user_version").only()
        damage = find_damage(database)
    except BusyError as error:
        return _locked(error)
    except StorageError as error:
        return _broken(path, error.__cause__ or error)
    finally:
        database.close()
    if damage:
        return _broken(path, ValueError(damage))
    return Check(_DATABASE, "ok", f"schema {version}, sound")


def _locked(error: BusyError) -> Check:
    return Check(
        _DATABASE, "warning", f"{error}, so it was not checked", "ask again when that process has ended"
    )


def _broken(path: Path, error: BaseException) -> Check:
    way_out = (
        "'sestet restore FILE' brings your last backup back; without one, keep a copy of the file, move it "
        "away and start afresh; 'sestet memory export' may still save your memories"
    )
    if _is_refused(error):
        way_out = (
            "the file may be quite sound: let your user write it and its directory, "
            "or choose another one with SESTET_HOME"
        )
    if _is_full(path.parent):
        way_out = "the disk is full: make room on it; the file may be quite sound"
    return Check(_DATABASE, "problem", f"{path}: {error}", way_out)


def _is_refused(error: BaseException) -> bool:
    """Whether the operating system refused the file, and nobody knows what is in it."""
    # The lowest byte is the error; the others say more about it.
    return isinstance(error, OSError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _REFUSED


def check_locks() -> list[Check]:
    """Whether sessions can be locked: without that, no turn can run."""
    path = (data_directory() / FILE_NAME).resolve().with_suffix(".lock")
    if not os.path.lexists(path):
        return []
    try:
        SessionLocks(path).close()
    except StorageError as error:
        return [Check("locks", "problem", str(error), "remove it, or set SESTET_HOME elsewhere")]
    return []


def _is_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < _ROOM_TO_OPEN


def check_copies() -> list[Check]:
    """Copies beside the database: they hold also what was forgotten since."""
    directory = (data_directory() / FILE_NAME).resolve().parent
    copies = sorted(path for pattern in COPY_NAMES for path in directory.glob(pattern))
    if not copies:
        return []
    names = f"{copies[0].name}{f' and {len(copies) - 1} more' if len(copies) > 1 else ''}"
    size = human_size(sum(path.stat().st_size for path in copies))
    way_out = "a copy also holds what you have forgotten since; remove it when you do not need it"
    return [Check("copies", "ok", f"{names} in {directory}, {size}", way_out)]


def check_turns() -> list[Check]:
    """Turns that wait for the person, or were cut off."""
    return read_database(_describe_turns, absent=[], unreadable=[])


def _describe_turns(database: Database) -> list[Check]:
    waiting, cut_off = _unfinished(database)
    found: list[Check] = []
    if waiting:
        detail = f"{len(waiting)} waiting for your decision, in {_sessions(waiting)}"
        found.append(Check(_TURNS, "warning", detail, "'sestet approvals' lists what is asked"))
    if cut_off:
        detail = f"{len(cut_off)} cut off before the end, in {_sessions(cut_off)}"
        found.append(Check(_TURNS, "warning", detail, "'sestet chat' offers to go on: /continue"))
    return found or [Check(_TURNS, "ok", "none waits or was cut off")]


def _unfinished(database: Database) -> tuple[list[TurnRow], list[TurnRow]]:
    """The turns that wait, and those that were cut off. A turn that runs in another process is neither."""
    locks = SessionLocks(database.path.with_suffix(".lock"))
    try:
        turns = Journal(database).open_turns()
        cut_off = [turn for turn in turns if turn.state == "running" and locks.is_free(turn.session_id)]
        return [turn for turn in turns if turn.state == "paused"], cut_off
    finally:
        locks.close()


def _sessions(turns: list[TurnRow]) -> str:
    return ", ".join(dict.fromkeys(turn.session_id for turn in turns))


def check_library() -> list[Check]:
    """Knowledge, lessons and documents."""

    def read(database: Database) -> list[Check]:
        return [_check_knowledge(database), _check_documents(DocumentStore(database))]

    return read_database(read, absent=[], unreadable=[])


def _check_knowledge(database: Database) -> Check:
    entries, lessons = KnowledgeStore(database).count(), LearningStore(database).count()
    detail = f"{_number(entries, 'entry', 'entries')}, {_number(lessons, 'lesson', 'lessons')}"
    return Check("knowledge", "ok", detail)


def _check_documents(documents: DocumentStore) -> Check:
    number, chunks = documents.count()
    if not number:
        return Check("documents", "ok", "none", "if you want some: sestet knowledge ingest PATH")
    gone = sum(not Path(path).exists() for path in documents.paths_below("/"))
    detail = f"{_number(number, 'document', 'documents')} in {_number(chunks, 'chunk', 'chunks')}"
    if gone:
        way_out = "'sestet knowledge ingest PATH --prune' forgets documents whose files are gone"
        return Check("documents", "warning", f"{detail}; the files of {gone} are gone", way_out)
    return Check("documents", "ok", detail)


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def check_forgetting() -> list[Check]:
    """Wipe what an earlier process could not wipe; nothing to report if there is nothing to wipe."""
    return read_database(_finish_wipe, absent=[], unreadable=[])


def _finish_wipe(database: Database) -> list[Check]:
    forgettings = Forgettings(database)
    if not forgettings.has_traces():
        return []
    if (outcome := forgettings.wipe()) == "wiped":
        return [Check(_FORGETTING, "ok", "wiped the traces of what you had forgotten")]
    return [Check(_FORGETTING, "warning", UNWIPED[outcome], "Sestet tries it again by itself")]


def check_graph(settings: Settings) -> list[Check]:
    """The facts of the knowledge graph, and those that wait for the person."""
    if not settings.graph.enabled:
        return [Check(_GRAPH, "ok", "switched off", "graph.enabled: true turns it on")]
    return read_database(
        lambda database: [_describe_graph(settings, database)],
        absent=[Check(_GRAPH, "ok", "empty", _reading(settings))],
        unreadable=[],
    )


def _describe_graph(settings: Settings, database: Database) -> Check:
    graph = GraphStore(database)
    size, waiting = graph.size(), ExtractionStore(database, graph).waiting()
    detail = f"{size.facts:,} fact{'' if size.facts == 1 else 's'} about {size.nodes:,} things"
    if waiting.texts and settings.graph.extraction != "off":
        detail += f"; {waiting.texts:,} saved texts are still to be read"
    if waiting.proposals:
        detail += f"; {waiting.proposals:,} wait for your decision"
        return Check(_GRAPH, "ok", detail, "'sestet graph review' lists them")
    return Check(_GRAPH, "ok", detail, _reading(settings))


def _reading(settings: Settings) -> str:
    if settings.graph.extraction != "off":
        return ""
    return "graph.extraction: review lets saved texts be read for facts"


def check_memory(settings: Settings) -> list[Check]:
    """How far observing has come, or the setting that turns it on."""
    memory = settings.observational_memory
    if not memory.enabled:
        way_out = "observationalMemory.enabled: true turns observing on"
        return [Check(_MEMORY, "ok", "keeps only what you ask it to; nothing is observed", way_out)]
    return read_database(
        lambda database: [_describe_memory(database, memory.observe_tokens)],
        absent=[Check(_MEMORY, "ok", "observes conversations; nothing is observed yet")],
        unreadable=[],
    )


def check_background(settings: Settings) -> list[Check]:
    """What work between turns has used today of its budget."""
    return read_database(
        lambda database: [_describe_background(settings, database)], absent=[], unreadable=[]
    )


def _describe_background(settings: Settings, database: Database) -> Check:
    budget = BackgroundBudget(SpendingStore(database), settings.background)
    used = budget.used_today()
    detail = f"{budget.describe(used)} today, at most {settings.background.cpu_share:.0%} of one core"
    if problem := budget.problem(used):
        way_out = "it goes on tomorrow; 'sestet docs configuration' has the limits"
        return Check(_BACKGROUND, "warning", f"{detail}; {problem}", way_out)
    return Check(_BACKGROUND, "ok", detail)


def _describe_memory(database: Database, threshold: int) -> Check:
    store = ObservationProgress(database, Journal(database))
    observed, waiting = store.waiting()
    detail = f"{observed} turns observed, {waiting} waiting until a session has {threshold:,} tokens of them"
    if stopped := store.given_up():
        names = " and ".join(f"'{model}' ({stage})" for stage, model in stopped)
        detail = (
            f"{detail}; {names} answered {MOST_EMPTY_REPLIES} times without any text and is not asked again"
        )
        return Check(
            _MEMORY, "warning", detail, "choose another model for the chronicler, and Sestet goes on"
        )
    if problem := store.work_sum().problem:
        detail = f"{detail}; the last time failed: {problem}"
        return Check(_MEMORY, "warning", detail, "Sestet tries it again by itself")
    return Check(_MEMORY, "ok", detail, "'sestet memory list' shows what is remembered")
