"""The built-in model on a first day: memory, files, earlier messages, languages, and honest limits."""

from datetime import datetime
from pathlib import Path

import pytest

import sestet
from sestet import agents
from sestet.app import App
from sestet.core.event import ToolCalled, TurnFinished, TurnPaused
from sestet.core.message import UserMessage
from sestet.core.model import ModelReply, ModelRequest
from sestet.models.offline import OfflineModel
from sestet.models.router import open_router

#: The reply to a question that nothing on record answers.
NOTHING = "nothing"
FILES = {
    "notes.md": "buy milk\ncall Anna\n",
    "stock list.csv": "pens,14\n",
    "list.csv": "another list\n",
    "recipes/pancakes.md": "milk, flour, eggs\n",
    "invoices/acme 1.txt": "ACME 120.00 EUR\n",
    "invoices/acme 2.txt": "ACME 80.00 EUR\n",
}


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES.items():
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")


async def say(app: App, text: str, calls: list[str] | None = None) -> str:
    """The answer; each question of the gate is answered with yes."""
    turn = app.run_turn("s1", text)
    while True:
        events = [event async for event in turn]
        if calls is not None:
            calls += [event.call.name for event in events if isinstance(event, ToolCalled)]
        end = events[-1]
        if not isinstance(end, TurnPaused):
            assert isinstance(end, TurnFinished)
            return end.text
        for question in app.approvals.pending(end.stamp.turn_id):
            app.decide(question.id, "approve")
        turn = app.resume_turn(end.stamp.turn_id)


async def last_answer(home: Path, *said: str) -> str:
    """The answer to the last of several messages."""
    async with sestet.open({}, home=home) as app:
        *before, last = said
        for text in before:
            await say(app, text)
        return await say(app, last)


@pytest.mark.parametrize(
    ("said", "expected", "not_said"),
    [
        (["my dog is called Rex", "what's the weather tomorrow?"], "cannot", "Rex"),
        (
            [
                "my dog is called Rex",
                "I am allergic to nuts",
                "forget that I am allergic to nuts",
                "what am I allergic to?",
            ],
            NOTHING,
            "Rex",
        ),
        (["my wifi code is 7781", "my name is Ines", "who am I?"], "Ines", "7781"),
        (["my wifi code is 7781", "who am I?"], NOTHING, "7781"),
        (["find every file that mentions milk"], "recipes/pancakes.md", "Nothing"),
        (
            ["save this knowledge that the office closes at six", "when does the office close?"],
            "six",
            "navigator",
        ),
        (["how much did I pay ACME in total?"], "ACME 120.00", "vault"),
        (
            ["my dog is called Rex", "actually, my dog is called Max, not Rex", "what is my dog's name?"],
            "Max",
            "Rex",
        ),
        (["list the files here", "what is 2 + 2?", "what did I ask you before?"], "what is 2 + 2?", NOTHING),
        (["read notes.md", "read it again"], "call Anna", "does not exist"),
        (["I like tea", "undo that"], "Forgotten: I like tea", "cannot"),
        (["list the files here", "undo that"], "nothing to undo", "Forgotten"),
        (
            [
                "my dog is called Rex",
                "actually, my dog is called Max, not Rex",
                "what time is it?",
                "undo that",
            ],
            "cannot undo a correction",
            "correct what is remembered",
        ),
        (["y"], "All right", "your files"),
        (["what can you do?"], "“what is connected to <start node>”", "what do i like"),
        (["write hello to new.txt", "undo that"], "Undone: deleted new.txt.", "Forgotten"),
    ],
)
async def test_what_once_embarrassed_does_not_come_back(
    tmp_path: Path, said: list[str], expected: str, not_said: str
) -> None:
    answer = await last_answer(tmp_path, *said)

    assert expected in answer
    assert not_said not in answer


@pytest.mark.parametrize(
    ("facts", "question", "expected"),
    [
        (["my exam in physics is on 9 May"], "when is my chemistry exam?", NOTHING),
        (["bed 4 gets tea at 22:00", "bed 7 sleeps"], "bed 4?", "22:00"),
        (["bed 4 gets tea at 22:00", "bed 7 sleeps"], "bed 9?", NOTHING),
        (["my wife's birthday is 2 May"], "when is my birthday?", NOTHING),
        (["my wifes birthday is 2 May"], "wen is my wifes birthday", "2 May"),
        (["our wedding was on 18 June"], "when did we get married?", "18 June"),
        (["Marta works at the clinic"], "where does Marta work?", "clinic"),
        (["Marta works at the clinic"], "where does Jonas work?", NOTHING),
        (["Marta likes tea"], "where does Marta work?", NOTHING),
        (["I moved to Bergen"], "where do I live?", "Bergen"),
        (["Emil is 11", "Nora is 8"], "how old is Nora?", "Nora is 8"),
        (["note to self: the gel runs 45 min at 90 V"], "how long does the gel run?", "45 min"),
        (
            ["I sowed the leeks on 12 March", "I planted dahlias by the wall"],
            "when did I sow the leeks?",
            "12 March",
        ),
    ],
)
async def test_a_question_is_answered_by_facts_about_its_subject_alone(
    tmp_path: Path, facts: list[str], question: str, expected: str
) -> None:
    answer = await last_answer(tmp_path, *facts, question)

    assert expected in answer
    assert expected != NOTHING or not any(fact in answer for fact in facts)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ["my dog is called Rex", "sorry, I meant Max, not Rex", "what's my dog called?"],
            "my dog is called Max",
        ),
        (
            ["my favourite colour is teal", "what is my favourite colour?", "no, it's green"],
            "colour is green",
        ),
        (["the CT is at 3pm", "correction: the CT is at 4pm", "when is the CT?"], "4pm"),
        (["I was born in Linz", "forget where I was born", "where was I born?"], NOTHING),
        (["remember the key is under the pot", "forget that", "where is the key?"], NOTHING),
        (["how old is Leo?", "Leo is 7", "Mia is 9", "how old is Leo?", "and Mia?"], "Mia is 9"),
        (["Anna lives in Bern", "where does she live?"], "Bern"),
        (["which files mention milk?", "read the second one"], "flour"),
        (["which files mention milk?", "read that"], "call Anna"),
        (["read notes.md", "and recipes/pancakes.md"], "flour"),
        (["read notes.md", "what does it say about Anna?"], "call Anna"),
        (["read notes.md", "do that again"], "buy milk"),
        (["what is 2 + 2?", "say that again"], "2 + 2 = 4"),
        (["what day is it?", "and tomorrow?"], "Tomorrow is"),
        (["list the files here", "I like tea", "what did I ask you first?"], "list the files here"),
        (["do that again"], "Nothing was said before"),
        (["I like tea", "shorter"], "cannot"),
    ],
)
async def test_a_message_may_refer_to_earlier_ones(tmp_path: Path, said: list[str], expected: str) -> None:
    assert expected in await last_answer(tmp_path, *said)


async def test_what_a_command_did_cannot_be_undone(tmp_path: Path) -> None:
    home = tmp_path / "beside the workspace"

    answer = await last_answer(home, "write hello to new.txt", "run touch other.txt", "undo that")

    assert answer.startswith("I cannot undo that")
    assert {"new.txt", "other.txt"} <= {file.name for file in Path.cwd().iterdir()}


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ('read "stock list.csv"', "pens,14"),
        ("read stock list.csv", "pens,14"),
        ("read list.csv", "another list"),
        ("can you read me 'stock list.csv'?", "pens,14"),
        ("read pancakes.md", "flour"),
        ("open the one about pancakes", "flour"),
        ("read acme 2.txt", "80.00"),
        ("how big is stock list.csv?", "stock list.csv: 8 B"),
        ("is foo.txt there?", "no file named"),
        ("is there a file called notes.md?", "Yes: notes.md"),
        ("any file that says flour?", "recipes/pancakes.md"),
        ("list everything in recipes", "pancakes.md"),
        ("read nowhere.xlsx", "'nowhere.xlsx' does not exist"),
    ],
)
async def test_files_are_found_by_everyday_names(tmp_path: Path, request_text: str, expected: str) -> None:
    assert expected in await last_answer(tmp_path, request_text)


async def test_three_lines_are_three_requests_in_their_order(tmp_path: Path) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        answer = await say(app, "list the files\nwhat is 3 * 4?\nremember that I like jazz", calls)

    assert calls == ["fs_list", "memory_remember"]
    assert answer.index("notes.md") < answer.index("3 * 4 = 12") < answer.index("I like jazz")


async def test_lines_after_a_colon_are_one_fact(tmp_path: Path) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "keep this for me:\nPancakes\n250 g flour\n4 eggs", calls)
        answer = await say(app, "how many eggs for pancakes?")

    assert calls == ["memory_remember"]
    assert "4 eggs" in answer


@pytest.mark.parametrize(
    "secret",
    [
        "my password is hunter2",
        "remember my PIN: 4711",
        "save this knowledge: the api key is sk-abcdefgh1234",
        "note that my card number is 4111 1111 1111 1111",
    ],
)
async def test_secrets_are_not_stored_and_the_vault_is_named(tmp_path: Path, secret: str) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        answer = await say(app, secret, calls)

    assert calls == []
    assert "vault" in answer
    assert "\n" not in answer


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Wie wird morgen das Wetter in Kiel?", "Ich"),
        ("écris-moi un poème sur la mer", "Je"),
        ("recuerda que la tienda abre a las nueve", "soy"),
        ("请记住我女儿叫小雨", "我"),
        ("Guten Tag! Was kannst du alles?", "Hallo"),
        ("hola", "Hola"),
    ],
)
async def test_other_languages_get_one_line_in_their_language(tmp_path: Path, text: str, word: str) -> None:
    answer = await last_answer(tmp_path, text)

    assert word in answer
    assert "sestet setup" in answer
    assert "\n" not in answer


@pytest.mark.parametrize(
    "text",
    [
        "read die Notizen.md",
        "I was born in Lübeck",
        "translate 'guten Tag, wie geht es dir' into English",
        "Marta lives in La Paz",
        "search for la la land",
    ],
)
async def test_foreign_names_do_not_make_a_message_foreign(tmp_path: Path, text: str) -> None:
    answer = await last_answer(tmp_path, text)

    assert not answer.startswith(("Das kann", "Je ne", "No puedo"))


@pytest.mark.parametrize(
    "text",
    [
        "translate 'good night' into German",
        "write me a poem about snow",
        "write a python function that sorts a list",
        "tell me a joke",
        "send an email to Bob saying hi",
        "remind me to call mum at 6",
        "book a table for two",
        "summarize this for me",
        "will it rain tomorrow?",
        "pay the invoice",
    ],
)
async def test_what_it_cannot_do_it_says_in_one_line_and_does_nothing(tmp_path: Path, text: str) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        answer = await say(app, text, calls)

    assert calls == []
    assert "cannot" in answer
    assert "\n" not in answer


@pytest.mark.parametrize(
    "text",
    ["hello", "what time is it?", "what is 2 + 2?", "thanks", "what did I ask you before?", "read it again"],
)
async def test_memory_is_not_asked_about_messages_that_have_nothing_to_do_with_it(
    tmp_path: Path, text: str
) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path) as app:
        await say(app, "I like tea")
        await say(app, text, calls)

    assert calls == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what time is it?", "It is 14:05."),
        ("what day is it today?", "Today is Tuesday, 17 November 2026 (2026-11-17)."),
        ("what's tomorrow's date", "Tomorrow is Wednesday, 18 November 2026 (2026-11-18)."),
        ("how many days until christmas?", "38 days until Friday, 25 December 2026."),
        ("how many hours from 21:30 to 6:00", "8.5 hours (8 h 30 min)."),
        ("and 1250 divided by 4?", "1250 divided by 4 = 312.5"),
        ("add 130, 245 and 78", "add 130, 245 and 78 = 453"),
        ("89.90 minus 20%", "89.90 minus 20% = 71.92"),
        ("I'm doing double, what is 2 * 250", "2 * 250 = 500"),
        ("convert 0.5 g to mg", "0.5 g = 500 mg"),
        ("38.5 celsius in fahrenheit", "38.5 °C = 101.3 °F"),
        ("how many grams is 2.5 kg?", "2.5 kg = 2,500 g"),
        ("Thank you, dear.", "You are welcome."),
        ("ok thx bye", "Goodbye! (Ctrl-D ends the conversation.)"),
    ],
)
async def test_dates_sums_units_and_small_talk_are_answered_directly(text: str, expected: str) -> None:
    specs = agents.default_specs()
    tools = {spec.name: agents.room_tools(spec.name) for spec in specs}
    model = OfflineModel(
        specs, tools, lambda: open_router(specs, with_encoder=False), lambda: datetime(2026, 11, 17, 14, 5)
    )

    *_, answer = [item async for item in model.stream(ModelRequest("root", "", (UserMessage(text),), ()))]

    assert isinstance(answer, ModelReply)
    assert answer.text == expected


@pytest.mark.parametrize(
    "text", ["a" + " " * 20_000 + "b", "and " * 5_000, "1 " * 5_000, "I like " + "tea, " * 4_000]
)
async def test_a_long_message_is_answered_like_any_other(tmp_path: Path, text: str) -> None:
    assert await last_answer(tmp_path, text)


@pytest.mark.parametrize(
    ("told", "corrected", "asked", "expected"),
    [
        ("my cat is called Tom", "actually, my cat is called Kim, not Tom", "what is my cat called?", "Kim"),
        ("my meeting is at 3pm", "it's at 4pm, not 3pm", "when is my meeting?", "is at 4pm"),
    ],
)
async def test_a_correction_after_a_file_was_read_replaces_the_fact_without_a_question(
    tmp_path: Path, told: str, corrected: str, asked: str, expected: str
) -> None:
    calls: list[str] = []
    async with sestet.open({}, home=tmp_path / "home") as app:
        for text in (told, "read notes.md", corrected):
            await say(app, text, calls)
        answer = await say(app, asked)

    assert "memory_forget" not in calls
    assert expected in answer
    assert told not in answer
    assert "own words" not in answer


async def test_a_value_corrects_the_fact_that_a_correction_named(tmp_path: Path) -> None:
    said = ("I live in Oslo", "actually I live in Bergen, not Oslo", "no, in Trondheim", "where do I live?")

    answer = await last_answer(tmp_path / "home", *said)

    assert "Trondheim" in answer
    assert "Bergen" not in answer


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('list "my notes"', "idea.md"),
        ("what is in my notes?", "idea.md"),
        ("show my notes", "idea.md"),
        ("list recipes", "pancakes.md"),
        ('show "recipes"', "pancakes.md"),
    ],
)
async def test_a_folder_is_listed_by_its_name(tmp_path: Path, said: str, expected: str) -> None:
    (tmp_path / "work" / "my notes").mkdir()
    (tmp_path / "work" / "my notes" / "idea.md").write_text("a boat\n", encoding="utf-8")

    answer = await last_answer(tmp_path / "home", "remember that I like tea", said)

    assert expected in answer
    assert "I like tea" not in answer


async def test_notes_are_what_was_told_where_no_folder_has_this_name(tmp_path: Path) -> None:
    answer = await last_answer(tmp_path / "home", "remember that I like tea", "what is in my notes?")

    assert "I like tea" in answer
