"""The built-in model on classes of requests: what is kept, what is looked up, and what a reference means."""

from pathlib import Path

import pytest

import sestet
from sestet.models.offline.languages import answer_in_language
from sestet.models.offline.naming import files_named
from sestet.models.offline.spelling import with_known_verbs
from sestet.models.offline.sums import go_on_with_sum, work_out
from tests.models.test_offline_daily import NOTHING, last_answer
from tests.models.workspace import enter_workspace

FILES = {
    "contacts.txt": "Plumber Kowalski: 0171 555 0199\nSchool office: 0171 555 0123\n",
    "rota.csv": "day,morning,evening\nMon,Ana,Ben\nTue,Ben,Cleo\n",
    "garden/beds.md": "Bed A: carrots, leeks\nBed B: tomatoes\n",
    "reports/march.md": "sales up\n",
    "reports/april.md": "sales down\n",
    "minutes/January.txt": "buy a printer\n",
    "minutes/February.txt": "sell the printer\n",
    "week1.txt": "run 5 km\n",
    "week2.txt": "run 6 km\n",
    "tasks.md": "water the plants\n",
    "council.md": "# Council, 4 June\nPresent: Ida, Bo\n\n# Council, 2 July\nPresent: Cy\n",
    "faq.md": "Q: How many books can I borrow?\nA: 15 at a time.\n",
    "CHANGES.md": "## 1.2\n- faster start\n\n## 1.1\n- first release\n",
    "app.toml": "[server]\nport = 8417\n",
    "travel.txt": "Ferry leaves at 19:45\nFlight home: 3 May, 7:10\n",
    "pets.txt": "Oskar, dachshund, 4 years\n",
    "people.txt": "Manon is afraid of dogs\nI was born as Ida Berg\n",
    "recipes/soup.md": "leek soup\n",
}


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_workspace(tmp_path, FILES, monkeypatch)


@pytest.mark.parametrize(
    "request_text",
    [
        "make me a rap about my cat",
        "make it sound friendlier",
        "make me a sandwich",
        "juggle three balls",
        "actually, show me the files",
        "think of a name for my boat",
    ],
)
async def test_a_request_is_never_kept_as_a_fact(tmp_path: Path, request_text: str) -> None:
    answer = await last_answer(tmp_path, "my dog is called Rex", request_text, "what do you know about me?")

    assert answer.count("\n- ") == 1
    assert "Rex" in answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What's the plumber's phone number?", "0171 555 0199"),
        ("who works tuesday evening", "Tue,Ben,Cleo"),
        ("which bed has the tomatoes?", "Bed B"),
        ("who was present on 4 june?", "Present: Ida, Bo"),
        ("how many books may I borrow?", "15 at a time"),
        ("what changed in 1.2?", "faster start"),
        ("what port does the server have?", "port = 8417"),
        ("waht time does the fery leave?", "19:45"),
        ("when do I fly home?", "Flight home: 3 May"),
        ("what breed is Oskar?", "dachshund"),
        ("what recipes do I have?", "soup.md"),
        ("is there anything in my notes about leeks?", "carrots, leeks"),
        ("The leeks look ill. Anything in my notes?", NOTHING),
        ("what am I afraid of?", NOTHING),
        ("what was I born as?", "I was born as Ida Berg"),
        ("how old is Kowalski?", NOTHING),
        ("when does Kowalski arrive?", NOTHING),
        ("How much insulin should Kowalski take?", NOTHING),
    ],
)
async def test_a_line_of_a_file_is_told_only_if_it_answers_the_question(
    tmp_path: Path, question: str, expected: str
) -> None:
    answer = await last_answer(tmp_path, question)

    assert expected in answer
    assert expected is not NOTHING or "0171" not in answer


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["show me the april report"], "sales down"),
        (["show me the april report", "now march"], "sales up"),
        (["what's on my task list?"], "water the plants"),
        (["could I see the minutes?"], "say which one"),
        (["could I see the minutes?", "the second one"], "buy a printer"),
        (["could I see the minutes?", "the second one", "the other one"], "sell the printer"),
        (["raed week1.txt", "no i meant 2"], "run 6 km"),
        (["read week1.txt", "the second one", "read it again"], "run 6 km"),
        (["opne teh april report", "again"], "sales down"),
        (
            ["read reports/march.md", "read reports/april.md", "never mind. read the first report again"],
            "sales up",
        ),
        (["what's one folder up?"], "nothing outside of it"),
    ],
)
async def test_a_file_is_found_by_a_description_or_a_reference(
    tmp_path: Path, said: list[str], expected: str
) -> None:
    assert expected in await last_answer(tmp_path, *said)


@pytest.mark.parametrize(
    ("said", "expected", "gone"),
    [
        (
            ["the tablets are in the drawer", "they are in the cabinet now", "where are the tablets?"],
            "cabinet",
            "drawer",
        ),
        (
            ["my aunt's birthday is 3 June", "sorry, her birthday is 5 June", "when is my aunt's birthday?"],
            "5 June",
            "3 June",
        ),
        (["I parked the car on level 3", "it's on level 5 now", "where is the car?"], "level 5", "level 3"),
        (["I take 5 mg of Ramipril", "actually 10 mg", "how much Ramipril do I take?"], "10 mg", " 5 mg"),
        (
            ["note that Ida is vegan", "Ida is not vegan any more", "is Ida vegan?"],
            "not vegan",
            "Ida is vegan",
        ),
        (["read week1.txt", "my dog is called Rex", "no, it's Max", "what is my dog called?"], "Max", "Rex"),
        (["where are my keys?", "They're on the piano", "where are my keys?"], "on the piano", NOTHING),
        (
            ["my bank is Northway", "delete everything you know about me", "what is my bank?"],
            NOTHING,
            "Northway",
        ),
        (
            [
                "remember these:\nthe bin is green\nthe key is with Bo",
                "forget the bit about the key",
                "who has the key?",
            ],
            NOTHING,
            "Bo",
        ),
    ],
)
async def test_a_correction_or_forgetting_leaves_no_copy(
    tmp_path: Path, said: list[str], expected: str, gone: str
) -> None:
    answer = await last_answer(tmp_path, *said)

    assert expected in answer
    assert gone not in answer


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Hello, I'm a nurse on a ward. What can you do for me?", "list the files"),
        ("Hi there, I run a bakery. Which files are in the folder called garden?", "beds.md"),
        ("Good evening, I collect stamps. What is 2 + 2?", "= 4"),
    ],
)
async def test_a_remark_does_not_swallow_the_request_after_it(
    tmp_path: Path, said: str, expected: str
) -> None:
    assert expected in await last_answer(tmp_path, said)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("raed lecture3.md", "read lecture3.md"),
        ("can u opne teh file", "can you open the file"),
        ("Raed is my friend", "Raed is my friend"),
        ("lost my keys", "lost my keys"),
        ("read the raed file", "read the raed file"),
    ],
)
def test_only_the_words_that_ask_are_corrected(said: str, expected: str) -> None:
    assert with_known_verbs(said) == expected


def test_one_foreign_word_does_not_make_a_language() -> None:
    assert [answer_in_language(text) for text in ("todo", "grep TODO")] == ["", ""]
    assert "Englisch" in answer_in_language("welche Dateien sind hier")


def test_a_sum_goes_on_with_the_result_before_it() -> None:
    assert go_on_with_sum("and divided by 2?", ["What is 17 times 23?"]).endswith("= 195.5")
    assert go_on_with_sum("plus 10%", ["100 + 100", "half of that"]).endswith("= 110")
    assert go_on_with_sum("plus 5", ["hello"]) == ""
    assert work_out("split a bill of 87.60 between 4 people").endswith("= 21.9")
    assert "dividing by 0 is not possible" in work_out("what is 10 divided by 0")


def test_the_file_that_is_most_like_the_last_one_is_meant() -> None:
    plans = ["class 4b/seating plan.txt", "class 5a/allergies.txt", "class 5a/seating plan.txt"]

    assert files_named("the one for 5a", plans, near=plans[0]) == [plans[2]]
    assert files_named("5c", plans) == []


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("my car's licence plate is B-XY 1234", "what's my licence plate?", "B-XY 1234"),
        ("my laptop's serial number is 7731", "what is my serial number?", "7731"),
        ("I'm vegetarian", "what can't I eat?", "vegetarian"),
        ("I'm allergic to nuts", "what must I not eat?", "nuts"),
        ("my favourite colour is green", "which colour do I like best?", "green"),
    ],
)
async def test_a_fact_that_was_just_told_answers_a_question_in_other_words(
    tmp_path: Path, told: str, asked: str, answer: str
) -> None:
    assert answer in await last_answer(tmp_path, told, asked)


async def test_what_belongs_to_somebody_else_is_not_the_persons_own(tmp_path: Path) -> None:
    told = "my sister's licence plate is B-XY 1234"
    assert "1234" not in await last_answer(tmp_path, told, "what's my licence plate?")
    assert "vegetarian" not in await last_answer(tmp_path, "I'm vegetarian", "what am I allergic to?")


async def test_stored_passwords_are_listed_by_the_vault(tmp_path: Path) -> None:
    assert await last_answer(tmp_path, "what passwords do you have?") == "The vault holds no secrets."


@pytest.mark.parametrize(
    "asked", ["are you sending my data anywhere?", "are you sharing this with anyone?", "does it phone home?"]
)
async def test_questions_about_privacy_get_an_answer(tmp_path: Path, asked: str) -> None:
    assert "nothing leaves this machine" in await last_answer(tmp_path, asked)


async def test_an_end_that_asks_for_what_opening_shows_is_no_request_of_its_own(tmp_path: Path) -> None:
    told = await last_answer(tmp_path, "open tasks.md and tell me what it says")
    assert "water the plants" in told
    assert "cannot tell" not in told


async def test_files_of_one_kind_are_found_in_every_folder(tmp_path: Path) -> None:
    told = await last_answer(tmp_path, "show all markdown files")
    assert "garden/beds.md" in told
    assert "rota.csv" not in told


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("generate a password for my bank", "I make up no passwords"),
        ("give me a strong password", "I make up no passwords"),
        ("add up the amounts in rota.csv", "I can add up all numbers of a file"),
        ("what's the total of rota.csv?", "I can add up all numbers of a file"),
    ],
)
async def test_what_takes_more_than_words_is_declined_in_one_line(
    tmp_path: Path, asked: str, answer: str
) -> None:
    told = await last_answer(tmp_path, asked)

    assert answer in told
    assert "\n" not in told


async def test_a_password_that_was_told_to_somebody_is_no_request_for_a_new_one(tmp_path: Path) -> None:
    assert "make up" not in await last_answer(tmp_path, "give me the wifi password")


async def test_words_in_the_place_of_a_number_search_no_files(tmp_path: Path) -> None:
    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure", examples=("scale by {factor}",))
    async def exec_scale(factor: float) -> str:
        """Scale the picture."""
        return f"scaled by {factor}"

    async with sestet.open({}, home=tmp_path, tools=[exec_scale]) as app:
        told = [(await app.ask(f"scale by {much}")).text for much in ("a lot", "half", "0")]

    assert told == [
        "“a lot” is no number, and that takes one, as in “scale by 2”.",
        "scaled by 0.5",
        "scaled by 0.0",
    ]
