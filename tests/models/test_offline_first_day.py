"""The built-in model on a first day: pronouns, questions about itself, numbers in files, documents."""

from pathlib import Path

import pytest

import sestet
from sestet.app import App
from sestet.core.event import TurnFinished, TurnPaused
from sestet.services.documents.ingestion import Ingestion
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.documents import DocumentStore
from tests.models.workspace import enter_workspace

FILES = {
    "todo.md": "- call the dentist\n- pay the rent by Friday\n",
    "budget.csv": "item,amount\nrent,900\nfood,320\n",
    "travel plans.txt": "14 December: train to Vienna, 9:15\n18 December: home\n",
}
NOTHING = "nothing on record"


async def say(app: App, text: str) -> str:
    """The answer; each question is answered with yes."""
    turn = app.run_turn("s1", text)
    while isinstance(end := [event async for event in turn][-1], TurnPaused):
        for question in app.approvals.pending(end.stamp.turn_id):
            app.decide(question.id, "approve")
        turn = app.resume_turn(end.stamp.turn_id)
    assert isinstance(end, TurnFinished)
    return end.text


@pytest.mark.parametrize(
    ("said", "expected", "not_said"),
    [
        (
            ["my sister Clara lives in Porto", "what is my sister's job?", "she moved to Lisbon"],
            "Clara moved to Lisbon",
            "job is",
        ),
        (["my boss is strict", "he likes golf", "what does my boss like?"], "my boss likes golf", NOTHING),
        (
            ["my cat is called Tom", "what is my cat called?", "he is 3 years old"],
            "Tom is 3 years",
            "called 3",
        ),
        (
            ["I'm flying to Rome on 3 March", "how many days until 3 March?", "actually it's on 5 March"],
            "flying to Rome on 5 March",
            NOTHING,
        ),
        (["waht is 2+2", "my car is a blue Skoda", "sorry i meant a red Skoda"], "a red Skoda", NOTHING),
        (["add milk to todo.md", "undo that", "does it still say milk?"], "Nothing in todo.md", NOTHING),
        (["change food to 350 in budget.csv", "read budget.csv"], "food,350", "320"),
        (["change tea to 350 in budget.csv"], "nothing was changed", "Changed"),
        (["can you learn a new skill?"], "I keep what you tell me", "Remembered"),
        (["what do you cost?"], "costs nothing", "rent"),
        (["does this cost anything?"], "costs nothing", "rent"),
        (["is it true that you need an openai key"], "no key", "no good answer"),
        (["do you send my data to the cloud"], "nothing leaves", "no good answer"),
        (["what happens if you make a mistake with my files?"], "Undo that", NOTHING),
        (["can you hack my neighbours wifi"], "no tool for it", "graph"),
        (["what do you charge?"], "no good answer", "rent"),
        (["show me the graph"], "what is connected to", "tab"),
        (["where do I live?"], NOTHING, "December"),
        (["what's my address?"], NOTHING, "December"),
        (["what is the current directory?"], "files", "does not exist"),
        (["I like tea", "remnid me what i like"], "I like tea", "understand"),
        (["what is 3 hours and 45 minutes in minutes"], "3 hours and 45 minutes = 225 min", NOTHING),
        (["what is the total of 900, 320 and 75?", "split that by 5"], "259", "understand"),
        (
            ["my wife is called Ingrid", "her birthday is on 12 June", "when is Ingrid's birthday?"],
            "Ingrid's birthday is on 12 June",
            NOTHING,
        ),
        (["read todo.md", "does it need butter?"], "Nothing in todo.md contains 'butter'", NOTHING),
        (["I like tea", "which things did I tell you?"], "I like tea", "cannot tell"),
        (["my phone number is 0151 2345", "what's my phone number?"], "0151 2345", "cannot"),
        (
            [
                "Bella needs her pills at 8 am",
                "Rocky gets walked at 5 pm",
                "when does Bella need her pills?",
                "what about Rocky?",
            ],
            "5 pm",
            NOTHING,
        ),
        (['add a row "books,40" to budget.csv', "read budget.csv"], "\nbooks,40", "a row"),
        (["which of my files is the largest?"], "largest file is travel plans.txt", NOTHING),
        (["what is the vault for?"], "Guards", "holds no secrets"),
        (["which specialist reads files?"], "- operator: ", NOTHING),
        (["what model are you using?"], "built into Sestet", "no good answer"),
        (["is 2028 a leap year?"], "Yes: 2028 has 366 days", NOTHING),
        (["put a dentist appointment in my calendar for friday at 10"], "calendar", "understand"),
    ],
)
async def test_a_first_day_has_no_embarrassing_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], expected: str, not_said: str
) -> None:
    await _is_answered(tmp_path, monkeypatch, said, expected, not_said)


@pytest.mark.parametrize(
    ("said", "expected", "not_said"),
    [
        (["make a packing list with socks, a map and tea", "add soap", "read it"], "a map\ntea\nsoap", "and"),
        (["make a packing list: socks", "cross socks off my packing list", "read it"], "is empty", "crossed"),
        (["make a packing list: socks", "put soap on it", "undo that", "read it"], "socks", "soap"),
        (["make a to-do list: sleep"], "There is a to-do list already (todo.md)", "Wrote"),
        (["tick off call the dentist", "read todo.md"], "pay the rent", "dentist"),
        (["take the rent off my travel list"], "nothing was changed", "Changed"),
        (["add tea to my to-do list", "read it", "read it"], "- pay the rent by Friday\ntea", "tea\ntea"),
        (
            ["rename todo.md to do.md", "revert the rename"],
            "moved back do.md to todo.md",
            "did not understand",
        ),
        (["creat a file caled a.txt with teh text hi", "read a.txt"], "hi", "teh"),
        (["add tea", "waht files do i hav"], "todo.md", NOTHING),
        (["what is 12 times 4.50", "plus 19% vat?"], "64.26", NOTHING),
        (["find all dentists in this folder"], "call the dentist", "Nothing in"),
        (["can you save my notes"], "", "Remembered"),
    ],
)
async def test_lists_are_files_and_hasty_words_change_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], expected: str, not_said: str
) -> None:
    await _is_answered(tmp_path, monkeypatch, said, expected, not_said)


@pytest.mark.parametrize(
    ("said", "expected", "not_said"),
    [
        (["my locker is number 214", "actually its 241", "which locker is mine"], "241", "214"),
        (
            ["my check-up is on Tuesday at 10", "oh sorry, Wednesday", "when is my check-up"],
            "Wednesday",
            "Tues",
        ),
        (["Hello dear, I am Walter", "who am I?"], "- I am Walter", "dear"),
        (["my exam is on december 3rd", "how many days until my exam"], "december 3rd", NOTHING),
        (["my son Tom is allergic to nuts", "is there anyone in my family with allergies?"], "nuts", NOTHING),
        (
            ["my son Tom lives in Ulm", "Tom moved to Bern", "where does my son live"],
            "moved to Bern",
            NOTHING,
        ),
        (["my cat is called Mimi", "Mimi eats tuna", "what does my cat eat"], "Mimi eats tuna", NOTHING),
        (["merk dir, dass meine Katze Mimi heißt"], "meine Katze heißt Mimi", "meine heißt"),
    ],
)
async def test_facts_are_found_by_a_name_a_day_and_in_other_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], expected: str, not_said: str
) -> None:
    await _is_answered(tmp_path, monkeypatch, said, expected, not_said)


async def _is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], expected: str, not_said: str
) -> None:
    enter_workspace(tmp_path, FILES, monkeypatch)

    async with sestet.open({}, home=tmp_path / "home") as app:
        *_, answer = [await say(app, text) for text in said]

    assert expected in answer
    assert not_said not in answer


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("what does the document refunds.md say?", "within 30 days"),
        ("who pays the postage?", "The shop pays the postage. (refunds.md"),
        ("what does the document todo.md say?", "call the dentist"),
        ("what does the document nope.md say?", "no file and no document named “nope.md”"),
        ("who pays the insurance?", "nothing is on record"),
    ],
)
async def test_an_ingested_document_is_found_by_its_name_and_by_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, expected: str
) -> None:
    enter_workspace(tmp_path, FILES, monkeypatch)
    document = tmp_path / "refunds.md"
    document.write_text(
        "# Refunds\nReturn goods within 30 days.\nThe shop pays the postage.\n", encoding="utf-8"
    )
    (tmp_path / "home").mkdir()
    database = Database(tmp_path / "home" / FILE_NAME)
    Ingestion(DocumentStore(database)).run([document])
    database.close()

    async with sestet.open({}, home=tmp_path / "home") as app:
        answer = await say(app, said)

    assert expected in answer
