"""The built-in model where a wrong reply would hurt: it rather says that it did not understand."""

from pathlib import Path

import pytest

from sestet.models.offline.care import find_care
from sestet.models.offline.languages import answer_in_language
from sestet.models.offline.parameters import unquoted
from tests.models.test_offline_daily import last_answer
from tests.models.test_offline_work import commands
from tests.models.workspace import enter_workspace

FILES = {
    "shopping.txt": "milk\neggs\n",
    "todo.md": "- call the plumber\n- pay rent\n",
    "app.conf": "listen 8080;\n",
    "notes/meeting.md": "Anna wants the report by Friday.\n",
    "hello.sh": "echo deploying\n",
}


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_workspace(tmp_path, FILES, monkeypatch)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("i want to kill myself", "crisis line"),
        ("I don't want to live anymore", "crisis line"),
        ("Ich will nicht mehr leben", "crisis line"),
        ("I'm having chest pains", "emergency"),
        ("my boyfriend hits me", "people can"),
        ("I feel really sad today", "sorry to hear"),
        ("my grandmother passed away in May", "sorry to hear"),
    ],
)
async def test_somebody_in_danger_or_grief_is_answered_with_care(
    tmp_path: Path, said: str, expected: str
) -> None:
    assert expected in await last_answer(tmp_path, said)


@pytest.mark.parametrize(
    "said",
    [
        "kill process 12",
        "where is the letter about my dog who died?",
        "remember that the fire drill is on Monday",
    ],
)
def test_an_ordinary_message_is_not_taken_for_grief(said: str) -> None:
    assert find_care(said) is None


async def test_a_sad_fact_is_kept_as_well(tmp_path: Path) -> None:
    answer = await last_answer(tmp_path, "my grandmother passed away in May")

    assert "Remembered: my grandmother passed away in May" in answer


@pytest.mark.parametrize(
    "said",
    [
        "pretend you are a pirate",
        "remember nothing",
        "no I'm not",
        "I made a mistake, take that back",
        "i no understand",
        "remember it's Robin",
        "hack the pentagon",
        "the eggs cost 3 now, please update shopping.txt",
    ],
)
async def test_words_that_state_nothing_are_not_kept(tmp_path: Path, said: str) -> None:
    assert "Remembered" not in await last_answer(tmp_path, said)


async def test_what_follows_is_not_kept_after_the_person_forbade_it(tmp_path: Path) -> None:
    answer = await last_answer(tmp_path, "Do not save anything I tell you now.", "My client is guilty.")

    assert "do not remember" in answer


async def test_a_fact_that_ends_in_keep_this_in_mind_is_kept_once(tmp_path: Path) -> None:
    answer = await last_answer(tmp_path, "my motor runs at 1450 rpm, please keep this in mind")

    assert answer.strip() == "Remembered: my motor runs at 1450 rpm"


@pytest.mark.parametrize(
    "said",
    [
        'write "hello" to a.txt and then to b.txt',
        "rename shopping.txt to a.txt and todo.md to b.txt",
        "copy shopping.txt to a.txt and b.txt",
    ],
)
async def test_a_change_of_several_files_is_done_as_a_whole_or_not_at_all(tmp_path: Path, said: str) -> None:
    before = {file.name for file in (tmp_path / "files").iterdir()}

    await last_answer(tmp_path, said)

    after = {file.name for file in (tmp_path / "files").iterdir()}
    assert after == before or {"a.txt", "b.txt"} <= after


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("grep plumber todo.md", "grep plumber todo.md"),
        ("sh hello.sh", "sh hello.sh"),
        ('run python3 -c "print(20+22)"', 'python3 -c "print(20+22)"'),
        ("when was todo.md last changed?", "date -r todo.md '+%F %H:%M'"),
    ],
)
async def test_a_command_is_run_as_it_is_typed(tmp_path: Path, said: str, command: str) -> None:
    assert await commands(tmp_path / "data", said) == [command]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("change the port in app.conf from 8080 to 9090", "Changed app.conf"),
        ("mv todo.md tasks.md", "Moved todo.md to tasks.md"),
        ("rm todo.md", "Deleted todo.md"),
    ],
)
async def test_a_change_that_is_typed_as_in_a_terminal_can_be_undone(
    tmp_path: Path, said: str, expected: str
) -> None:
    assert expected in await last_answer(tmp_path, said)
    assert "Undone" in await last_answer(tmp_path, "undo")


@pytest.mark.parametrize(
    ("said", "expected", "not_said"),
    [
        (["my wife is called Lena", "no wait, her name is Lina", "what is my wife's name?"], "Lina", "Lena"),
        (["Tom is Priya's manager", "who is Tom's manager?"], "nothing is on record", "Priya"),
        (["my son's name is Rafael", "what is the name of my daughter?"], "nothing on record", "Rafael"),
        (["My favourite colour is green. What is my favourite colour?"], "You told me", "nothing"),
        (["add to the graph: Paul knows Marie", "who does Paul know?"], "Marie", "nothing"),
        (["create a.txt with tea", "actually delete it"], "Deleted a.txt", "Forgot"),
        (["is there anything about a plumber in my files?"], "todo.md", "Nothing"),
        (["who wants the report?", "what about bed 5", "and bed 7"], "nothing", "turn"),
        (["are you my friend?"], "small model", "on record"),
        (["is anything sent to the internet?"], "nothing leaves this machine", "on record"),
        (["save my api key sk-test-12345 in the vault"], "sestet secrets set", "Remembered"),
        (["pay 5 usdc to bob"], "payments are off", "vault"),
        (["exam on dec 3 at 9am in room B12"], "did not understand", "navigator"),
        (["explain photosynthesis in simple words"], "real model", "said before"),
        (["please don't remember that, just tell me: is the sky blue?"], "real model", "All right"),
    ],
)
async def test_a_doubtful_request_is_answered_right_or_not_at_all(
    tmp_path: Path, said: list[str], expected: str, not_said: str
) -> None:
    answer = await last_answer(tmp_path, *said)

    assert expected in answer
    assert not_said not in answer


def test_a_person_goes_on_in_their_language() -> None:
    assert answer_in_language("trinkst du was?", ["Wie geht es dir?"])
    assert not answer_in_language("read notes.txt", ["Wie geht es dir?"])
    assert not answer_in_language("hi im mia im 8")


@pytest.mark.parametrize(
    ("text", "value"),
    [('"tea"', "tea"), ('python3 -c "1"', 'python3 -c "1"'), ('tea"', "tea"), ("“my tea”", "my tea")],
)
def test_only_quotes_around_all_of_a_value_are_taken_off(text: str, value: str) -> None:
    assert unquoted(text) == value
