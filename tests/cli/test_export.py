"""``sestet export``: everything in formats that other programs read."""

import csv
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from sestet.core.event import ModelCalled, Stamp
from sestet.core.model import Usage
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.journal import Journal
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.services.memory.conversation import say


def lines(file: Path) -> list[Any]:  # Any: JSON that a test looks into
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_everything_is_exported_and_only_its_owner_reads_it(home: Home, call: Call) -> None:
    call("ask", "--session", "tea", "remember that I like tea")
    call("knowledge", "save", "Hours", "until six", "--tag", "office")
    call("knowledge", "save", "Hours", "until seven")
    call("graph", "add", "Anna", "related_to", "ACME")
    call("knowledge", "ingest", "notes.txt")

    done = call("export", "out")

    out = home.work / "out"
    assert (done.code, done.out) == (0, "")
    assert "conversations 1, knowledge 1, memory 1, documents 1, graph 1" in done.err
    (tea,) = lines(out / "conversations.jsonl")
    assert tea["id"] == "tea"
    assert tea["turns"][0]["events"][0]["text"] == "remember that I like tea"
    assert "Remembered: I like tea" in (out / "conversations" / "tea.md").read_text()
    assert [row["text"] for row in lines(out / "memory.jsonl")] == ["I like tea"]
    (hours,) = lines(out / "knowledge.jsonl")
    assert [version["content"] for version in hours["versions"]] == ["until seven", "until six"]
    assert "until seven" in (out / "knowledge" / "Hours.md").read_text()
    (fact,) = lines(out / "graph.jsonl")
    assert (fact["subject"], fact["object"]) == ("Anna", "ACME")
    assert lines(out / "documents.jsonl")[0]["path"] == str(home.work / "notes.txt")
    for path in out.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    # Every file is explained.
    readme = (out / "README.md").read_text()
    assert [path.name for path in out.iterdir() if path.name not in readme] == ["README.md"]


def test_an_exported_memory_can_be_imported(home: Home, call: Call) -> None:
    call("ask", "remember that I like tea")
    call("export", "out")
    call("memory", "forget", "m1")

    call("memory", "import", "out/memory.jsonl", "--mine")

    assert "I like tea" in call("memory", "list").out


def test_odd_titles_become_file_names_that_stay_in_the_directory(home: Home, call: Call) -> None:
    odd = ["../../up", "a/b", "A?B", "a:b", "...", "ß" * 300, "tab\there", "\x1b[31mred"]
    for title in odd:
        call("knowledge", "save", title, "text")

    assert call("export", "out").code == 0

    names = [path.name for path in (home.work / "out" / "knowledge").iterdir()]
    assert len(names) == len(lines(home.work / "out" / "knowledge.jsonl"))
    assert {"up.md", "a-b.md", "untitled.md"} <= set(names)
    assert not (home.work / "up.md").exists()
    assert not [
        path for path in home.work.rglob("*.md") if path.parent.name != "knowledge" and "up" in path.name
    ]


def test_costs_are_a_table_in_which_no_cell_is_a_formula(home: Home, call: Call) -> None:
    with closing(Database(home.data / FILE_NAME)) as database:
        turn_id = say(database, "hello")
        stamp = Stamp("s1", turn_id, 20, "planner", "", 1.0)
        Journal(database).append(ModelCalled(stamp, "=acme/big", "hi", (), Usage(9, 1, 500), 1.0))

    call("export", "out")

    with (home.work / "out" / "costs.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["session"], row["agent"], row["model"]) == ("s1", "planner", "'=acme/big")
    assert (row["input_tokens"], row["nano_dollars"], row["dollars"]) == ("9", "500", "5e-07")


def test_an_export_replaces_nothing_and_leaves_nothing_half(home: Home, call: Call) -> None:
    call("ask", "hello")
    (home.work / "full").mkdir()
    (home.work / "full" / "mine.txt").write_text("mine")
    (home.work / "empty").mkdir()

    assert "'full' is there already" in call("export", "full").err
    assert "'notes.txt' is there already" in call("export", "notes.txt").err
    assert "there is no directory" in call("export", "no/where").err
    assert call("export", "empty", "--json").code == 0
    assert sorted(path.name for path in home.work.iterdir() if path.name.startswith(".")) == []
