"""Setting up as a person does it: at a real terminal, and before the first conversation."""

from collections.abc import Generator

import pytest

from tests.cli import elsewhere
from tests.cli.program import Home
from tests.models.local_servers import BEGINNING, LocalServer, Ollama, Served, running

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
CTRL_C, CTRL_D = "\x03", "\x04"
OFFER = f"Which? Enter: go on with the built-in one {PROMPT}"


@pytest.fixture
def ollama() -> Generator[LocalServer]:
    models = [Served("tiny"), Served("slow", hangs=True), Served("dumb", tools=False)]
    with running(Ollama(models)) as server:
        yield server


@pytest.fixture
def home(home: Home, ollama: LocalServer) -> Home:
    return home.with_program(elsewhere.__file__, ollama.root)


def test_a_person_may_choose_again_until_a_model_works(home: Home) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect("You can choose:")
        terminal.expect(f"Which? Enter: ollama/tiny {PROMPT}")
        terminal.say("9")
        terminal.expect("there is no choice '9'")
        terminal.expect(PROMPT)
        terminal.say("3")
        terminal.expect("Trying ollama/dumb")
        terminal.expect("It does not work. It answered by itself")
        terminal.expect("→ pull a model")
        terminal.expect(f"Which? Enter: leave it as it is {PROMPT}")
        assert not (home.directory / ".config").exists()
        terminal.say("1")
        terminal.expect("→ operator")
        terminal.expect("operator · fs_list")
        terminal.expect("green-tea.txt")
        terminal.expect("Ready: ollama/tiny asked operator, which called fs_list · 3 model calls")
        terminal.expect("Written to ~/.config/sestet/sestet.yaml")
        assert terminal.wait() == 0


def test_a_model_that_does_not_end_can_be_stopped_and_another_be_chosen(
    home: Home, ollama: LocalServer
) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.say("ollama/slow")
        terminal.expect(BEGINNING)
        terminal.press(CTRL_C)
        terminal.expect("You stopped it.")
        assert "It does not work" not in terminal.raw
        terminal.expect(PROMPT)
        terminal.say("offline")
        terminal.expect("The built-in model answers, as before. No settings were written.")
        assert terminal.wait() == 0
    assert "abandoned" in ollama.paths
    assert not (home.directory / ".config").exists()


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_leaving_the_dialogue_changes_nothing(home: Home, key: str) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.press(key)
        terminal.expect("No settings were changed.")
        assert terminal.wait() == 1
    assert not (home.directory / ".config").exists()


def test_the_model_of_a_vendor_can_be_named(home: Home, ollama: LocalServer) -> None:
    address = {"SESTET_PROVIDERS__OPENAI__BASEURL": f"{ollama.root}/v1", "OPENAI_API_KEY": "sk-1"}
    with home.terminal("setup", extra=address) as terminal:
        terminal.expect(PROMPT)
        terminal.say("openai")
        terminal.expect("Models of OpenAI")
        terminal.expect("tiny")
        # The suggested model is not among them, so Enter alone chooses none.
        terminal.expect(f"Which? {PROMPT}")
        terminal.say("tiny")
        terminal.expect("Trying openai/tiny")
        terminal.expect("which your account pays")
        terminal.expect("price not on the list")
        assert terminal.wait() == 0


# Before the first conversation


def test_the_first_conversation_offers_a_model_and_begins_with_it(home: Home) -> None:
    with home.terminal("chat", fresh=True) as terminal:
        terminal.expect(OFFER)
        terminal.say("1")
        terminal.expect("Ready: ")
        terminal.expect("model ollama/tiny")
        terminal.expect(PROMPT)
        terminal.say("list the files here")
        terminal.expect("green-tea.txt")
        terminal.expect(PROMPT)
        terminal.say("/exit")
        assert terminal.wait() == 0


@pytest.mark.parametrize("answer", ["\r", CTRL_C, CTRL_D])
def test_the_offer_can_be_skipped_and_is_not_made_again(home: Home, answer: str) -> None:
    with home.terminal("chat", fresh=True) as terminal:
        terminal.expect(OFFER)
        terminal.press(answer)
        terminal.expect("'sestet setup' asks again")
        terminal.expect("model offline")
        terminal.expect(PROMPT)
        terminal.say("/exit")
        assert terminal.wait() == 0
    with home.terminal("chat", fresh=True) as terminal:
        assert "Which?" not in terminal.expect("model offline")


def test_an_answer_to_the_offer_that_names_no_choice_is_the_first_message(home: Home) -> None:
    with home.terminal("chat", fresh=True) as terminal:
        terminal.expect(OFFER)
        terminal.say("remember that I like tea")
        terminal.expect("model offline")
        terminal.expect(f"{PROMPT}remember that I like tea")
        terminal.expect("Remembered: I like tea")
        terminal.expect(PROMPT)
        terminal.say("/exit")
        assert terminal.wait() == 0


def test_no_offer_is_made_where_no_model_is_found(home: Home, ollama: LocalServer) -> None:
    ollama.models.clear()
    with home.terminal("chat", fresh=True) as terminal:
        assert "Which?" not in terminal.expect("model offline")


def test_no_offer_is_made_with_settings_or_without_a_terminal(home: Home) -> None:
    assert "Which?" not in home.run("chat", stdin="hello\n").stdout
    (home.work / "sestet.yaml").write_text("agent: {provider: offline}\n", encoding="utf-8")
    with home.terminal("chat", fresh=True) as terminal:
        assert "Which?" not in terminal.expect("model offline")


def test_no_offer_is_made_when_the_environment_chooses_a_model(home: Home) -> None:
    with home.terminal("chat", fresh=True, extra={"SESTET_AGENT__PROVIDER": "offline"}) as terminal:
        assert "Which?" not in terminal.expect("model offline")


def test_no_offer_is_made_where_there_is_nothing_to_choose_from(home: Home) -> None:
    home.with_program(elsewhere.__file__, "http://127.0.0.1:1")
    with home.terminal("chat", fresh=True) as terminal:
        assert "Which?" not in terminal.expect("model offline")
