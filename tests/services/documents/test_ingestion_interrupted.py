"""A killed ingestion leaves whole documents, and the next continues; two at once store each file once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sestet.services.documents.ingestion import Ingestion, IngestionSummary
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore

from .papers import words

FILES = 60
PROGRAM = """
import sys
from pathlib import Path
from sestet.services.documents.ingestion import Ingestion
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore

store = DocumentStore(Database(Path(sys.argv[1])))
summary = Ingestion(store).run([Path(sys.argv[2])], watch=lambda progress: print(progress.done, flush=True))
print("added", summary.added, "unchanged", summary.unchanged, "broken", summary.broken)
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for number in range(FILES):
        text = "\n\n".join(f"# Part {part}\n\n{words(250, f'w{number}')}" for part in range(40))
        (shelf / f"{number:02}.md").write_text(text, encoding="utf-8")
    return shelf


def start(database: Path, shelf: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROGRAM, str(database), str(shelf)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def whole(database: Path) -> int:
    """The number of documents, after a check that each has all its chunks and passages."""
    opened = Database(database)
    rows = opened.execute(
        """SELECT path, count(*), count(passages.id) FROM documents
           JOIN chunks ON document_id = documents.id
           LEFT JOIN passages ON collection = 'documents' AND item_id = chunks.id GROUP BY path"""
    )
    (passages,) = opened.execute("SELECT count(*) FROM passages").only()
    (indexed,) = opened.execute(
        "SELECT count(*) FROM passages_index WHERE passages_index MATCH 'part'"
    ).only()
    opened.execute("INSERT INTO passages_index (passages_index) VALUES ('integrity-check')")
    opened.close()
    assert {(chunks, kept) for _, chunks, kept in rows} <= {(40, 40)}
    assert passages == indexed == len(rows) * 40
    return len(rows)


@pytest.mark.slow
def test_a_kill_in_the_middle_leaves_whole_files_and_the_next_run_goes_on(
    tmp_path: Path, shelf: Path
) -> None:
    database = tmp_path / "sestet.db"
    Database(database).close()
    for pause in (0.0, 0.003, 0.011):
        child = start(database, shelf)
        assert child.stdout is not None
        for _ in range(5):
            child.stdout.readline()
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        before = whole(database)
        assert 5 <= before <= FILES
    opened = Database(database)

    summary = Ingestion(DocumentStore(opened)).run([shelf])

    opened.close()
    assert (summary.added, summary.unchanged) == (FILES - before, before)
    assert whole(database) == FILES


@pytest.mark.slow
def test_two_processes_store_each_file_once(tmp_path: Path, shelf: Path) -> None:
    database = tmp_path / "sestet.db"
    children = [start(database, shelf) for _ in range(2)]
    said = [child.communicate(timeout=60)[0].splitlines()[-1] for child in children]

    assert [child.returncode for child in children] == [0, 0]
    counts = [line.split() for line in said]
    assert all(words[4:] == ["broken", "[]"] for words in counts)
    assert sum(int(words[1]) for words in counts) == FILES
    assert sum(int(words[3]) for words in counts) == FILES
    assert whole(database) == FILES


def test_a_file_that_another_process_has_stored_meanwhile_is_not_stored_twice(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("tea\n", encoding="utf-8")
    first, second = Database(tmp_path / "sestet.db"), Database(tmp_path / "sestet.db")
    slow = DocumentStore(second)
    slow.digest_of = _answering_none_once(slow)  # it checked before the other one was done

    Ingestion(DocumentStore(first)).run([note])

    assert Ingestion(slow).run([note]) == IngestionSummary(unchanged=1)
    first.close()
    second.close()


def _answering_none_once(store: DocumentStore):
    honest, asked = store.digest_of, list[str]()

    def answer(path: str) -> str | None:
        asked.append(path)
        return None if len(asked) == 1 else honest(path)

    return answer
