"""The built-in model on what newcomers say: what they forbid and take back, kinds of things, and choices."""

from pathlib import Path

import pytest

from sestet.models.offline.retractions import asked_instead, forbids, restated
from sestet.models.offline.sums import go_on_with_sum, work_out
from tests.models.test_offline_daily import NOTHING, last_answer
from tests.models.workspace import enter_workspace

FILES = {
    "budget-2025.txt": "total 1200\n",
    "budget-2026.txt": "total 1450\n",
    "letters/aunt.txt": "Dear Rosa, thanks for the scarf! We visit you on 21 April.\nLove, Samira\n",
    "letters/landlord.txt": "the heating is broken\n",
    "src/util.py": "def clean(s):\n    return s.strip()\n",
    "app.toml": '[server]\nport = 8081\nhost = "localhost" # local\n',
    "calendar.txt": "Mon 09:00 physio\nSat 11:00 brunch with Nils\n",
    "chores.md": "| who | what | day |\n|---|---|---|\n| Luca | bathroom | Wednesday |\n",
    "people.md": "- Greta: plumber, 0151 2233\n- Selim: electrician, 0160 9988\n",
    "calc.py": "print(3)\n",
    "menu.txt": "Monday: soup\nTuesday: risotto\n",
}


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_workspace(tmp_path, FILES, monkeypatch)


@pytest.mark.parametrize(
    "message",
    [
        "do not delete menu.txt",
        "whatever happens dont touch menu.txt",
        "please leave menu.txt alone",
        "you must not overwrite menu.txt",
        "make sure you never delete menu.txt and src/util.py",
        "hands off menu.txt",
    ],
)
async def test_what_is_forbidden_is_neither_done_nor_read(tmp_path: Path, message: str) -> None:
    assert forbids(message)
    assert "I did nothing" in await last_answer(tmp_path, message)
    assert (tmp_path / "files/menu.txt").read_text() == FILES["menu.txt"]


@pytest.mark.parametrize(
    "message", ["don't forget that I like tea", "never mind", "read menu.txt", "leave me a note"]
)
def test_other_messages_forbid_nothing(message: str) -> None:
    assert not forbids(message)


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("don't delete a.txt, delete b.txt", "delete b.txt"),
        ("don't delete a.txt, rename it to c.txt", "rename a.txt to c.txt"),
        # Which of the two is meant?
        ("don't delete a.txt and b.txt, move it to c", ""),
        ("do not read a.txt", ""),
    ],
)
def test_after_something_forbidden_only_the_request_is_left(message: str, left: str) -> None:
    assert asked_instead(message) == left


def test_a_message_that_takes_back_its_beginning_asks_only_its_end() -> None:
    assert restated("and divided by zero? i mean 5/0") == "5/0"
    assert restated("my dog is Rex, I mean my dog is Max") == ""


@pytest.mark.parametrize(
    ("told", "question", "expected"),
    [
        ("I like jazz", "what music do I like?", "You told me:\n- I like jazz"),
        ("I play tennis", "what sport do I play?", "I play tennis"),
        ("I speak Danish", "which languages do I speak?", "I speak Danish"),
        ("I like jazz", "what food do I like?", NOTHING),
        ("I play tennis", "what instrument do I play?", NOTHING),
        # Nothing says that it is music: never the answer, but told as what may be meant.
        ("I like Radiohead", "what music do I like?", "may or may not be it:\n- I like Radiohead"),
        ("I like Radiohead", "what is my favourite band?", "may or may not be it:\n- I like Radiohead"),
        ("my sister is allergic to nuts", "who must not eat nuts?", "my sister"),
        ("my sister is allergic to nuts", "am I allergic to anything?", NOTHING),
        ("Tom is allergic to nuts", "what am I allergic to?", NOTHING),
        ("she works at the zoo", "where do I work?", NOTHING),
        ("i hate olives", "what don't i like", "olives"),
        ("i like coffee", "what don't i like", NOTHING),
        ("I don't like fish", "what do I like?", NOTHING),
        ("I don't like fish", "do I like fish?", "don't like fish"),
        ("my sister is called Meera", "do i have a sister?", "Meera"),
        ("my sister is called Meera", "do i have a hamster?", NOTHING),
    ],
)
async def test_a_kind_of_thing_is_known_or_told_as_uncertain(
    tmp_path: Path, told: str, question: str, expected: str
) -> None:
    assert expected in await last_answer(tmp_path, told, question)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (("show me the budget", "i mean the 2026 one"), "1450"),
        (("show me the budget", "i mean the 2026 one", "and the other one"), "1200"),
        (("what letters are there?", "read the one to my aunt"), "scarf"),
        (("read letters/aunt.txt", "when do we visit her?"), "21 April"),
        (("open the letter to my landlord",), "heating"),
        (("which file defines clean",), "src/util.py"),
        (("what's for dinner on tuesday?",), "risotto"),
        (("lst teh files plz",), "menu.txt"),
        (("delete menu.txt", "what is 2+2", "thanks", "undo the last change"), "brought back menu.txt"),
        (("delete menu.txt", "list the files", "undo that"), "brought back menu.txt"),
        (("hello", "undo that"), "Nothing was undone"),
        (("delete menu.txt", "run calc.py", "undo the last change"), "brought back menu.txt"),
        (("delete menu.txt", "oops, undo"), "brought back menu.txt"),
        (("delete menu.txt and calc.py", "what's left?"), "chores.md"),
        (("what do i have on saturday",), "brunch"),
        (("what do i have on saturday", "who with?"), "Nils"),
        (("who cleans the bathroom?",), "Luca"),
        (("who cleans the bathroom?", "when?"), "Wednesday"),
        (("who is my electrician?", "his number?"), "0160 9988"),
        (("swap it: in chores.md replace Luca with Sanne", "who cleans the bathroom?"), "Sanne"),
        (("birthday of greta",), "did not understand"),
        (("are all my files still there",), "people.md"),
        (("the cooker shows E9, what do i do",), NOTHING),
    ],
)
async def test_a_request_means_what_was_shown_before(
    tmp_path: Path, messages: tuple[str, ...], expected: str
) -> None:
    assert expected in await last_answer(tmp_path, *messages)


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        ("2 to the power of 10", "1,024"),
        ("2 to the 8th power", "256"),
        ("what is 2^10", "1,024"),
        ("5 squared plus 1", "26"),
        ("the cube of 3", "27"),
        ("twenty times 3", "60"),
        ("5 divided by zero", "5 divided by zero has no result: dividing by 0 is not possible."),
    ],
)
def test_powers_and_number_words_are_worked_out(asked: str, result: str) -> None:
    assert work_out(asked).endswith(result)


@pytest.mark.parametrize("asked", ["9^9^9", "(10^100)^100", "2^0.5", "2^"])
def test_a_power_that_nobody_could_read_is_no_sum(asked: str) -> None:
    assert work_out(asked) == ""


def test_a_sum_goes_on_with_number_words() -> None:
    assert "dividing by 0 is not possible" in go_on_with_sum("and divided by zero?", ["7 plus 2"])


async def test_each_of_several_files_is_changed_and_told(tmp_path: Path) -> None:
    answer = await last_answer(tmp_path, "delete menu.txt, nothing-here.txt and calc.py")

    assert "Deleted menu.txt" in answer
    assert "Deleted calc.py" in answer
    assert "'nothing-here.txt' does not exist" in answer
    assert not (tmp_path / "files/calc.py").exists()


async def test_several_files_are_moved_into_a_folder(tmp_path: Path) -> None:
    await last_answer(tmp_path, "move menu.txt and calc.py into letters")

    there = {file.name for file in (tmp_path / "files/letters").iterdir()}
    assert there == {"aunt.txt", "landlord.txt", "calc.py", "menu.txt"}


@pytest.mark.parametrize(
    ("message", "file", "content"),
    [
        (
            "change the port to 9090 in app.toml",
            "app.toml",
            '[server]\nport = 9090\nhost = "localhost" # local\n',
        ),
        ("in app.toml set host to example", "app.toml", '[server]\nport = 8081\nhost = "example" # local\n'),
        (
            "change 8081 to 9090 in app.toml",
            "app.toml",
            '[server]\nport = 9090\nhost = "localhost" # local\n',
        ),
        ("change the colour to red in app.toml", "app.toml", FILES["app.toml"]),
        ("change soup to stew in menu.txt", "menu.txt", "Monday: stew\nTuesday: risotto\n"),
        (
            "add Wed 16:00 haircut to the calendar",
            "calendar.txt",
            FILES["calendar.txt"] + "Wed 16:00 haircut\n",
        ),
    ],
)
async def test_one_line_is_changed_or_nothing(tmp_path: Path, message: str, file: str, content: str) -> None:
    await last_answer(tmp_path, message)

    assert (tmp_path / "files" / file).read_text() == content


async def test_a_line_that_is_only_described_is_not_written(tmp_path: Path) -> None:
    await last_answer(tmp_path, "read menu.txt", "add a line about dogs")

    assert (tmp_path / "files/menu.txt").read_text() == FILES["menu.txt"]


@pytest.mark.parametrize("told", ["I bought a car, which is red", "I met Tom, who was nice"])
async def test_a_sentence_with_a_relative_clause_is_no_question(tmp_path: Path, told: str) -> None:
    assert f"Remembered: {told}" in await last_answer(tmp_path, told)


async def test_a_line_is_added_to_the_file_of_the_last_answer(tmp_path: Path) -> None:
    await last_answer(tmp_path, "make a file called diary.txt that says I began", "add a line: it went ok")

    assert (tmp_path / "files/diary.txt").read_text().splitlines() == ["I began", "it went ok"]
    assert "nothing was added" in await last_answer(tmp_path / "other", "hello", "add a line: it went ok")


async def test_a_pronoun_is_kept_with_the_name_before_it(tmp_path: Path) -> None:
    said = ("my girlfriend is called Katja", "she works at the aquarium", "where does Katja work?")

    assert "Katja works at the aquarium" in await last_answer(tmp_path, *said)
