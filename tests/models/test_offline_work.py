"""The built-in model at work on files and commands: tests, scripts, lines, what "it" means, and undo."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import sestet
from sestet.core.event import ToolCalled, TurnPaused
from sestet.models.offline.command_work import is_command_work
from tests.models.test_offline_daily import last_answer, say

UNITTEST = (
    "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertTrue(1)\n"
)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def fill(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


async def commands(home: Path, text: str) -> list[str]:
    """The commands that a message leads to, without running them: each question is left open."""
    async with sestet.open({}, home=home) as app:
        events = [event async for event in app.run_turn("s1", text)]
        called = [event.call for event in events if isinstance(event, ToolCalled)]
        asked = list(app.approvals.pending()) if isinstance(events[-1], TurnPaused) else []
        ran = [str(call.arguments["command"]) for call in called if call.name == "exec_run"]
        waiting = [json.loads(one.arguments)["command"] for one in asked if one.tool == "exec_run"]
        return list(dict.fromkeys((*ran, *waiting)))


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all: test\n\ntest: build\n\ttrue\n", "test_a.py": UNITTEST}, "make test"),
        (
            {"Makefile": "all:\n\ttrue\n", "tests/test_a.py": UNITTEST},
            "python3 -m unittest discover -s tests",
        ),
        ({"test_a.py": UNITTEST}, "python3 -m unittest"),
        ({"tests/test_a.py": "def test_one():\n    assert 1\n"}, "python3 -m pytest -q"),
        ({"tests/test_a.py": UNITTEST, "setup.cfg": "[tool:pytest]\n"}, "python3 -m pytest -q"),
        ({"package.json": '{"scripts": {"test": "node t.js"}}\n'}, "npm test"),
        ({"Cargo.toml": "[package]\n"}, "cargo test"),
        ({"go.mod": "module a\n"}, "go test ./..."),
    ],
    ids=["make", "unittest in a folder", "unittest", "pytest", "pytest by settings", "npm", "cargo", "go"],
)
async def test_the_tests_are_run_as_the_project_says(
    work: Path, tmp_path: Path, files: dict[str, str], command: str
) -> None:
    fill(work, files)

    assert await commands(tmp_path / "data", "run the tests and tell me what fails") == [command]


@pytest.mark.parametrize(
    "files", [{}, {"package.json": "{}\n"}, {"Makefile": "latest:\n\ttrue\n"}, {"a.py": "x"}]
)
async def test_a_project_without_tests_gets_an_honest_answer(
    work: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    fill(work, files)

    answer = await last_answer(tmp_path / "data", "do the tests pass?")

    assert answer.startswith("I found no tests here")


async def test_running_tests_asks_first_and_tells_what_they_printed(work: Path, tmp_path: Path) -> None:
    fill(work, {"test_a.py": UNITTEST})
    async with sestet.open({}, home=tmp_path / "data") as app:
        events = [event async for event in app.run_turn("s1", "run the tests")]

        assert isinstance(events[-1], TurnPaused)
    answer = await last_answer(tmp_path / "other", "run the tests")
    assert "python3 -m unittest" in answer
    assert "Ran 1 test" in answer


@pytest.mark.parametrize(
    ("request_text", "content"),
    [
        ("write a file todo.txt with three lines: milk, bread, tea", "milk\nbread\ntea\n"),
        (
            "write a file todo.txt with the lines: milk; bread and butter; tea",
            "milk\nbread and butter\ntea\n",
        ),
        ("create todo.txt with two lines: feed the cat and call mum", "feed the cat\ncall mum\n"),
        ("make a file called todo.txt with these lines:\nmilk\n\n- bread, sliced", "milk\n- bread, sliced\n"),
        ("write a file todo.txt with:\nDear Ada,\n\nsee you soon", "Dear Ada,\n\nsee you soon\n"),
        ("write todo.txt with milk, bread and tea, one per line", "milk\nbread\ntea\n"),
        ("write a file todo.txt with three lines", "line 1\nline 2\nline 3\n"),
    ],
)
async def test_a_file_gets_the_lines_that_the_message_gives(
    work: Path, tmp_path: Path, request_text: str, content: str
) -> None:
    answer = await last_answer(tmp_path / "data", request_text)

    assert (work / "todo.txt").read_text() == content
    assert ("placeholders" in answer) == content.startswith("line 1")


async def test_a_wrong_number_of_lines_is_told_and_nothing_is_written(work: Path, tmp_path: Path) -> None:
    answer = await last_answer(tmp_path / "data", "write a file todo.txt with two lines: milk; bread; tea")

    assert answer.startswith("I count 3 lines in your message, and you ask for 2 lines.")
    assert not (work / "todo.txt").exists()


async def test_a_known_script_is_written_and_run_and_undone(work: Path, tmp_path: Path) -> None:
    fill(work, {"notes.txt": "one two\nthree\n"})
    async with sestet.open({}, home=tmp_path / "data") as app:
        ran = await say(app, "write a script that counts the words in notes.txt and run it")
        again = await say(app, "run it again")
        of_command = await say(app, "undo that")
    home = tmp_path / "other"
    os.remove("count_words.py")
    undone = await last_answer(home, "write a script that counts the words in notes.txt", "undo that")

    assert "Wrote count_words.py" in ran
    assert "3 words" in ran
    assert "3 words" in again
    assert of_command.startswith("I cannot undo that")
    assert "deleted count_words.py" in undone
    assert not (work / "count_words.py").exists()


@pytest.mark.parametrize(
    "request_text",
    ["write a script that sorts my photos by face and run it", "write a program that plays chess"],
)
async def test_a_script_that_takes_thinking_is_declined(
    work: Path, tmp_path: Path, request_text: str
) -> None:
    answer = await last_answer(tmp_path / "data", request_text)

    assert answer.startswith("I cannot write code")
    assert os.listdir(work) == []


@pytest.mark.parametrize(
    ("request_text", "command"),
    [
        ("run hello.py", "python3 tools/hello.py"),
        ("execute the script tools/go.sh", "bash tools/go.sh"),
        ("how many lines are in hello.py?", "grep -c '' tools/hello.py"),
        ("ls -la", "ls -la"),
        ("git status", "git status"),
    ],
)
async def test_a_command_is_found_behind_a_request(
    work: Path, tmp_path: Path, request_text: str, command: str
) -> None:
    fill(work, {"tools/hello.py": "", "tools/go.sh": ""})

    assert await commands(tmp_path / "data", request_text) == [command]


@pytest.mark.parametrize(
    "request_text", ["find my keys", "make me a sandwich", "date night ideas", "sort out my life", "go home"]
)
def test_plain_words_are_no_command(request_text: str) -> None:
    assert not is_command_work(request_text)


STORIES = [
    (("add milk to list.txt", "read it back to me"), "eggs\nmilk"),
    (("read list.txt", "add milk to it", "show list.txt"), "eggs\nmilk"),
    (("add milk to list.txt", "read list.txt", "undo that", "read list.txt"), "list.txt:\neggs"),
    (("delete list.txt", "wait no, undo", "read list.txt"), "eggs"),
    (("rename list.txt to shop.txt", "read it"), "shop.txt:\neggs"),
    (("read list.txt", "copy it to copy.txt", "read copy.txt"), "eggs"),
    (("move list.txt into box", "same for b.txt", "list the files in box"), "b.txt"),
    (("overwrite list.txt with tea", "put it back the way it was", "read list.txt"), "eggs"),
    (("search for red in box", "hello", "search for red in box"), "box/colours.txt"),
    (("what is the plan?", "change blue to green in colours.txt"), "box/colours.txt"),
]


@pytest.mark.parametrize(("said", "expected"), STORIES, ids=[said[-2] for said, _ in STORIES])
async def test_a_story_with_files(work: Path, tmp_path: Path, said: tuple[str, ...], expected: str) -> None:
    fill(work, {"list.txt": "eggs\n", "b.txt": "b\n", "box/colours.txt": "red\nblue\n"})

    assert expected in await last_answer(tmp_path / "data", *said)


@pytest.mark.parametrize(
    "request_text",
    [
        "remove the last line of list.txt",
        "delete the word eggs from list.txt",
        "make list.txt nicer",
        "write a poem to list.txt",
        "shove list.txt somewhere under box",
    ],
)
async def test_a_change_is_never_guessed_from_half_of_a_request(
    work: Path, tmp_path: Path, request_text: str
) -> None:
    fill(work, {"list.txt": "eggs\n", "box/a.txt": "a\n"})

    await last_answer(tmp_path / "data", request_text)

    assert (work / "list.txt").read_text() == "eggs\n"
    assert sorted(os.listdir(work)) == ["box", "list.txt"]


async def test_contents_are_written_as_they_were_typed(work: Path, tmp_path: Path) -> None:
    answer = await last_answer(tmp_path / "data", "write hello world into a.txt and then read it")

    assert answer.endswith("a.txt:\nhello world")


async def test_a_command_without_a_name_is_not_run(work: Path, tmp_path: Path) -> None:
    assert await commands(tmp_path / "data", "run the linter") == []


@pytest.mark.parametrize(
    "denied", ["don't remember this: I hate my boss", "please do not save that I am ill"]
)
async def test_what_must_not_be_kept_is_not_kept(work: Path, tmp_path: Path, denied: str) -> None:
    answer = await last_answer(tmp_path / "data", denied, "what do you know about me?")

    assert "boss" not in answer
    assert "ill" not in answer.split()


async def test_words_are_not_added_to_a_file_that_nobody_named(work: Path, tmp_path: Path) -> None:
    await last_answer(tmp_path / "data", "add milk to tea")

    assert os.listdir(work) == []


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ("how much free disk space do I have?", "df -h ./"),
        ("how busy is this computer?", "uptime"),
        ("how much memory is free?", "free -h"),
        ("how many cores does this computer have?", "nproc"),
        ("run git add .", "git add ."),
    ],
)
async def test_a_question_about_the_computer_is_a_command(
    work: Path, tmp_path: Path, asked: str, command: str
) -> None:
    assert await commands(tmp_path / "home", asked) == [command]


async def test_a_file_in_a_folder_is_counted_by_its_name_alone(work: Path, tmp_path: Path) -> None:
    fill(work, {"garden/beds.md": "leeks\ncarrots\n"})

    ran = await commands(tmp_path / "home", "how many lines does beds.md have?")

    assert ran == ["grep -c '' garden/beds.md"]


async def test_no_file_is_searched_for_three_letters_of_a_word(work: Path, tmp_path: Path) -> None:
    fill(work, {"a.txt": "all is well\n"})
    async with sestet.open({}, home=tmp_path / "home") as app:
        events = [event async for event in app.run_turn("s1", "what am I allergic to?")]

    called = [event.call.arguments for event in events if isinstance(event, ToolCalled)]
    searched = [str(arguments["text"]) for arguments in called if "text" in arguments]
    assert searched
    assert all(len(text) > 3 for text in searched)


async def test_words_for_a_file_in_a_folder_do_not_make_a_new_file(work: Path, tmp_path: Path) -> None:
    fill(work, {"config/app.toml": "port = 80\n"})

    told = await last_answer(tmp_path / "data", "append debug = true to app.toml")

    assert told == (
        "Nothing was added: app.toml is not here. Say the whole path (config/app.toml), or ./app.toml for a "
        "new file."
    )
    assert os.listdir(work) == ["config"]
    await last_answer(tmp_path / "data", "append debug = true to ./app.toml")
    assert (work / "app.toml").read_text() == "debug = true\n"
