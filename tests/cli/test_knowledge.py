"""``sestet knowledge``: entries, lessons and documents on the screen, and nothing left of forgotten ones."""

import json
from pathlib import Path

import pytest

from sestet.storage.database import Database
from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.services.documents.papers import pdf, words

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def shelf(home: Home) -> Path:
    shelf = home.work / "shelf"
    shelf.mkdir()
    (shelf / "tea.md").write_text("# Tea\n\nBrew it for three minutes.\n", encoding="utf-8")
    (shelf / "paper.pdf").write_bytes(pdf(["Coffee is roasted."]))
    return shelf


def test_an_entry_is_saved_shown_changed_and_brought_back(call: Call) -> None:
    assert call("knowledge", "list").err.startswith("Nothing is saved yet")
    assert (
        call("knowledge", "save", "Hours", "until", "six", "--tag", "Shop").out
        == "Hours: version 1: until six\n"
    )
    assert call("knowledge", "save", "hours", "until seven", "--category", "fact").code == 0
    listed = call("knowledge", "list").out
    assert listed.startswith("Hours  fact, shop  until seven")
    assert "by hand" in listed
    shown = call("knowledge", "show", "HOURS").out.splitlines()
    assert (shown[0], shown[-1]) == ("Hours (fact, shop, version 2)", "until seven")
    versions = [line.split() for line in call("knowledge", "history", "hours").out.splitlines()]
    assert [line[:2] for line in versions] == [["→", "2"], ["1", "note,"]]
    assert call("knowledge", "undo", "hours").out == "Hours: version 1: until six\n"
    assert call("knowledge", "list", "--tag", "shop").out.startswith("Hours  note, shop  until six")
    assert call("knowledge", "undo", "hours", "--to", "2").out == "Hours: version 2: until seven\n"
    described = json.loads(call("knowledge", "history", "hours", "--json").out)
    assert [(v["version"], v["present"]) for v in described["versions"]] == [(2, True), (1, False)]
    assert described["versions"][0]["label"] == {"untrusted": False, "private": False, "sources": []}


def test_a_new_version_keeps_its_tags_and_category_until_they_are_changed(call: Call) -> None:
    def saved(*options: str) -> tuple[str, list[str]]:
        entry = json.loads(call("knowledge", "save", "Hours", *options, "--json").out)
        return entry["category"], entry["tags"]

    assert saved("until six", "--category", "fact", "--tag", "office") == ("fact", ["office"])
    assert saved("until seven") == ("fact", ["office"])
    assert saved("until eight", "--tag", "shop") == ("fact", ["shop"])
    assert saved("until nine", "--no-tags") == ("fact", [])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("show", "Hurs"), 1, "there is no entry 'Hurs'; did you mean 'Hours'?"),
        (("history", "Nobody"), 1, "there is no entry 'Nobody'"),
        (("undo", "Hours"), 1, "'Hours' is at its first version; 'sestet knowledge forget' removes it"),
        (("undo", "Hours", "--to", "7"), 1, "'Hours' has no version 7"),
        (("save", "Hours", "x", "--category", "notes"), 2, "'fact', 'note', 'document', 'procedure'"),
        (("save", "Hours", " "), 1, "'content' is empty"),
        (("save", "Hours", "x", "--tag", "t" * 41), 1, "'tags' has 41 characters"),
        (("search", " "), 2, "the query is empty"),
        (("forget",), 2, "name exactly one thing"),
        (("forget", "Hours", "--learning", "1"), 2, "name exactly one thing"),
        (("forget", "Nobody"), 1, "there is no 'Nobody'"),
        (("forget", "--learning", "9"), 1, "there is no lesson 9"),
        (("forget", "--learning", "9" * 20), 2, "is not a whole number from 1 to"),
        (("undo", "Hours", "--to", "9" * 20), 2, "is not a whole number from 1 to"),
        (("list", "--limit", "9" * 20), 2, "is not a whole number from 1 to"),
        (("forget", "--document", "nowhere"), 1, "there is no document"),
        (("ingest", "nowhere"), 1, "nowhere: No such file or directory"),
        (("ingest", "/dev/null"), 1, "/dev/null: neither a file nor a directory"),
        (("ingest", ""), 2, "the path is empty; write . for the working directory"),
        (("forget", "--document", ""), 2, "the path is empty; write . for the working directory"),
        (("list", "--tag", "none"), 0, "No entry has this tag"),
        (("save", "", "hi"), 1, "'key' is empty; give the entry a title, such as 'Office hours'"),
        (("save", "  ", "hi"), 1, "'key' is empty"),
        (("save", "Hours", "late", "--tag", "shop", "--no-tags"), 2, "give either --tag or --no-tags"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_way_out(
    call: Call, arguments: tuple[str, ...], code: int, message: str
) -> None:
    call("knowledge", "save", "Hours", "until six")

    done = call("knowledge", *arguments)

    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_text_comes_from_a_pipe_as_well(home: Home) -> None:
    done = home.run("knowledge", "save", "Note", "-", stdin="two\nlines\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert home.json("knowledge", "show", "Note")["content"] == "two\nlines"


def test_passages_are_embedded_at_once_on_request(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call("knowledge", "save", "Hours", "until six")
    call("knowledge", "save", "Fees", "two euros")

    assert call("knowledge", "embed").out == "2 passages embedded; every passage has its vector.\n"
    assert json.loads(call("knowledge", "embed", "--json").out) == {"embedded": 0, "embedding_problem": ""}

    monkeypatch.setenv("SESTET_EMBEDDING__PROVIDER", "none")
    refused = call("knowledge", "embed")
    assert (refused.code, refused.out) == (1, "")
    assert "embedding.provider is none" in refused.err


def test_documents_are_ingested_found_and_listed_with_their_sources(call: Call, shelf: Path) -> None:
    first = call("knowledge", "ingest", "shelf")
    assert (first.code, first.out, first.err) == (0, "Documents: 2 added in 2 chunks.\n", "")
    assert call("knowledge", "ingest", "shelf").out == "Documents: 2 unchanged.\n"
    found = call("knowledge", "search", "how long to brew tea", "--limit", "1").out.splitlines()
    assert found[0].startswith(f"{shelf}/tea.md:1 (documents, ")
    assert "untrusted; words: " in found[0]
    assert found[1:] == ["  tea.md > Tea", "  # Tea", "", "  Brew it for three minutes."]
    (passage,) = json.loads(call("knowledge", "search", "roasted", "--limit", "1", "--json").out)
    assert passage["source"] == f"{shelf}/paper.pdf p. 1"
    assert passage["label"]["sources"] == [f"{shelf}/paper.pdf"]
    listed = call("knowledge", "documents").out.splitlines()
    assert [line.split()[:2] for line in listed] == [
        [f"{shelf}/paper.pdf", "pdf"],
        [f"{shelf}/tea.md", "markdown"],
    ]
    (shelf / "tea.md").unlink()
    assert call("knowledge", "ingest", "shelf", "--prune").out == "Documents: 1 unchanged, 1 removed.\n"


def test_what_was_left_out_is_named_and_a_broken_file_shows_in_the_exit_code(call: Call, shelf: Path) -> None:
    (shelf / "broken.pdf").write_bytes(b"%PDF-1.4\nrubbish")
    (shelf / ".hidden").write_text("x", encoding="utf-8")
    done = call("knowledge", "ingest", "shelf")
    assert (done.code, done.out) == (1, "Documents: 2 added in 2 chunks.\n")
    assert done.err.startswith(f"skipped, hidden: {shelf}/.hidden\nbroken: {shelf}/broken.pdf: it is damaged")
    summary = json.loads(call("knowledge", "ingest", "shelf", "--json").out)
    assert [entry["path"] for entry in summary["broken"]] == [f"{shelf}/broken.pdf"]
    assert summary["skipped"] == [{"path": f"{shelf}/.hidden", "reason": "hidden"}]
    assert summary["unchanged"] == 2
    assert summary["embedding_problem"] == ""


def test_names_and_texts_cannot_command_the_terminal(call: Call, shelf: Path) -> None:
    (shelf / "a\x1b[2Jb.md").write_text("brew \x1b]0;owned\x07tea", encoding="utf-8")
    for arguments in (("ingest", "shelf"), ("documents",), ("search", "brew tea")):
        done = call("knowledge", *arguments)
        assert "\x1b" not in done.out + done.err


def test_what_is_forgotten_is_nowhere_in_the_file(home: Home, call: Call, shelf: Path) -> None:
    (shelf / "secret.md").write_text("the zanzibarwort grows here\n" * 3, encoding="utf-8")
    call("knowledge", "save", "Plant", "a zanzibarwort in spring")
    call("knowledge", "save", "Plant", "no zanzibarwort in autumn")
    call("knowledge", "ingest", "shelf")
    assert _holding(home, b"zanzibarwort")

    assert call("knowledge", "forget", "Plant").out == "forgotten: Plant\n"
    done = json.loads(call("knowledge", "forget", "--document", "shelf", "--json").out)

    assert done["traces_wiped"]
    assert [Path(path).name for path in done["forgotten"]] == ["paper.pdf", "secret.md", "tea.md"]
    assert _holding(home, b"zanzibarwort") == []
    assert _holding(home, b"zanzibar") == []
    assert call("knowledge", "search", "zanzibarwort").out == ""


def test_traces_that_have_to_stay_for_now_are_admitted(home: Home, call: Call) -> None:
    call("knowledge", "save", "Plant", "a zanzibarwort")
    reader = Database(home.data / "sestet.db")
    reader.connection.execute("BEGIN")
    reader.connection.execute("SELECT count(*) FROM knowledge").fetchone()

    done = call("knowledge", "forget", "Plant")

    assert (done.code, done.out) == (0, "forgotten: Plant\n")
    assert done.err.startswith("another process is using the file: traces stay in it")
    reader.close()
    call("knowledge", "save", "Other", "tea")
    assert call("knowledge", "forget", "Other").err == ""
    assert _holding(home, b"zanzibarwort") == []


def test_a_lesson_can_be_listed_and_forgotten(home: Home, call: Call) -> None:
    call("ask", "save the lesson: when the oven smokes, open the window")
    assert call("knowledge", "learnings").out.startswith("1  when the oven smokes: open the window")
    assert json.loads(call("knowledge", "learnings", "--json").out)[0]["session_id"]
    assert call("knowledge", "forget", "--learning", "1").out == "forgotten: lesson 1\n"
    assert call("knowledge", "learnings").err == "There is no lesson yet.\n"


def test_the_doctor_counts_what_is_kept_and_names_what_could_be(home: Home, call: Call, shelf: Path) -> None:
    call("knowledge", "save", "Hours", "until six")
    call("knowledge", "ingest", "shelf")
    (shelf / "tea.md").unlink()
    checks = {check["name"]: check for check in json.loads(call("doctor", "--json").out)["checks"]}
    assert checks["knowledge"]["detail"] == "1 entry, 0 lessons"
    assert checks["documents"]["detail"] == "2 documents in 2 chunks; the files of 1 are gone"
    assert "--prune" in checks["documents"]["way_out"]
    assert "search.url" in checks["web search"]["way_out"]
    (home.work / "sestet.yaml").write_text("search: {url: 'http://127.0.0.1:8888'}\n", encoding="utf-8")
    checks = {check["name"]: check for check in json.loads(call("doctor", "--json").out)["checks"]}
    assert checks["web search"]["detail"] == "http://127.0.0.1:8888"


def test_a_search_address_that_is_none_is_a_mistake_in_the_settings(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("search: {url: searx}\n", encoding="utf-8")
    done = call("ask", "hello")
    assert (done.code, done.out) == (2, "")
    assert "search.url: 'searx' must be the address of a search endpoint" in done.err


@pytest.mark.slow
def test_a_person_who_stops_an_ingest_is_told_that_it_can_go_on(home: Home) -> None:
    many = home.work / "many"
    many.mkdir()
    for number in range(3_000):
        (many / f"{number}.md").write_text(words(2_000, f"w{number}"), encoding="utf-8")
    with home.terminal("knowledge", "ingest", "many") as terminal:
        terminal.expect("/3000")
        terminal.press("\x03")
        terminal.expect("Stopped. The documents read so far are kept; run it again to go on.")
        assert terminal.wait() == 130
    stored = home.json("knowledge", "documents", "--limit", "5000")
    assert 0 < len(stored) < 3_000


@pytest.mark.slow
def test_the_documents_of_this_repository_answer_questions_without_any_model(home: Home) -> None:
    assert home.run("knowledge", "ingest", str(DOCS)).returncode == 0

    answer = home.run("ask", "what do our documents say about how long a question to the person stays open?")

    assert answer.returncode == 0
    assert f"- {DOCS}/safety.md:" in answer.stdout
    assert "a question stays open for `policy.questionHours`" in answer.stdout


def _holding(home: Home, text: bytes) -> list[str]:
    Database(home.data / "sestet.db").close()
    return [path.name for path in home.data.iterdir() if text in path.read_bytes()]


def test_where_a_passage_stands_breaks_between_words_at_a_terminal(home: Home) -> None:
    note = home.work / "a-note-about-the-house.txt"
    note.write_text("The spare key of the summer house is under the third pot.\n", encoding="utf-8")
    assert home.run("knowledge", "ingest", str(note)).returncode == 0

    with home.terminal("knowledge", "search", "spare key of the summer house pot") as terminal:
        assert terminal.wait() == 0
        shown = terminal.raw.splitlines()
    assert str(note) in " ".join(shown)
    assert [line for line in shown if len(line) > 100 and " " in line] == []
