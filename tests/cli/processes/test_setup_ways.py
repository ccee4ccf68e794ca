"""``sestet setup`` where no model is found: a key, a server, a model to fetch, or the built-in one."""

from collections.abc import Generator
from pathlib import Path

import pytest

from sestet.config import load_settings
from sestet.config.vendors import VENDORS
from tests.cli import elsewhere
from tests.cli.program import Home, Terminal
from tests.models.local_servers import LocalServer, Ollama, Plain, Served, Vllm, running

PROMPT = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
CTRL_C, CTRL_D = "\x03", "\x04"
KEY = "sk-very-secret"
NOWHERE = "http://127.0.0.1:1"
WHOSE, ADDRESS, MODELS = "Whose key do you have?", "Its address", "Models of OpenAI"


@pytest.fixture
def home(home: Home) -> Home:
    return home.with_program(elsewhere.__file__, NOWHERE)


@pytest.fixture
def vendor() -> Generator[LocalServer]:
    many = [Served(f"gpt-{number}") for number in range(60)]
    with running(Vllm([*many, Served("gpt-4.1-mini"), Served("chatty", tools=False)], key=KEY)) as server:
        yield server


def at(vendor: LocalServer) -> dict[str, str]:
    """The environment in which OpenAI is this server."""
    return {"SESTET_PROVIDERS__OPENAI__BASEURL": f"{vendor.root}/v1"}


def own_settings(home: Home) -> Path:
    return home.directory / ".config" / "sestet" / "sestet.yaml"


def type_key(terminal: Terminal, key: str = KEY) -> None:
    terminal.expect(f"Which? Enter: offline {PROMPT}")
    terminal.say("key")
    terminal.expect(WHOSE)
    terminal.expect(PROMPT)
    terminal.say("OpenAI")
    terminal.expect(f"The key of OpenAI, which is not shown. Enter: back {PROMPT}")
    terminal.say(key)


def test_every_way_to_a_model_is_offered_and_the_variables_are_named(home: Home) -> None:
    with home.terminal("setup") as terminal:
        seen = terminal.expect(f"Which? Enter: offline {PROMPT}")
    assert "No model server was found" in seen
    assert all(way in seen for way in ("offline", "type a key", "name a server", "fetch a model"))
    assert all(vendor.variable in seen and vendor.name in seen for vendor in VENDORS.values())


@pytest.mark.parametrize(
    ("said", "asked"),
    [("Name a server", ADDRESS), ("type a key", WHOSE), ("none", "write a number from 1")],
)
def test_a_way_can_be_chosen_by_the_words_that_are_shown(home: Home, said: str, asked: str) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(f"Which? Enter: offline {PROMPT}")
        terminal.say(said)
        terminal.expect(asked)


def decline_vault(terminal: Terminal) -> None:
    terminal.expect(
        f"Keep the key in the vault, encrypted, instead of the settings? y: yes. Enter: no {PROMPT}"
    )
    terminal.say("")


def test_a_key_can_be_kept_in_the_vault_and_is_used_from_there(home: Home, vendor: LocalServer) -> None:
    with home.terminal("setup", extra=at(vendor)) as terminal:
        type_key(terminal)
        terminal.expect(f"Which? Enter: gpt-4.1-mini {PROMPT}")
        terminal.say("")
        terminal.expect(f"instead of the settings? y: yes. Enter: no {PROMPT}")
        terminal.say("y")
        terminal.expect("New passphrase: ")
        terminal.say("correct horse")
        terminal.expect("The same again: ")
        terminal.say("correct horse")
        terminal.expect("the settings say vault:openai")
        assert terminal.wait() == 0
    assert "apiKey: vault:openai" in own_settings(home).read_text(encoding="utf-8")
    assert KEY not in own_settings(home).read_text(encoding="utf-8")


def test_a_key_can_be_typed_again_and_is_hidden_private_and_masked(home: Home, vendor: LocalServer) -> None:
    with home.terminal("setup", extra=at(vendor)) as terminal:
        type_key(terminal, "sk-mistyped")
        terminal.expect("does not accept the key (status 401)")
        terminal.expect(PROMPT)
        terminal.say("two words")
        terminal.expect("It has characters that no key has.")
        terminal.expect(PROMPT)
        terminal.say(KEY)
        terminal.expect(MODELS)
        terminal.expect(f"Which? Enter: gpt-4.1-mini {PROMPT}")
        terminal.say("")
        terminal.expect("Ready: openai/gpt-4.1-mini asked operator")
        terminal.expect("Written to ~/.config/sestet/sestet.yaml")
        decline_vault(terminal)
        assert terminal.wait() == 0
        assert "secret" not in terminal.raw
        assert "mistyped" not in terminal.raw
    file = own_settings(home)
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_settings(file).settings.providers["openai"].api_key == KEY
    shown = home.run("config", "show", extra=at(vendor))
    assert "secret" not in shown.stdout + shown.stderr
    assert "***" in shown.stdout


def test_a_vendor_that_is_not_in_the_list_is_asked_for_again(home: Home) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(f"Which? Enter: offline {PROMPT}")
        terminal.say("key")
        terminal.expect(WHOSE)
        terminal.expect(f"Which? {PROMPT}")
        terminal.say("9")
        terminal.expect("'9' is not in this list.")
        terminal.expect(f"Which? {PROMPT}")
        terminal.say("openai")
        terminal.expect("The key of OpenAI")


def test_of_many_models_one_is_found_by_page_by_part_of_its_name_or_by_name(
    home: Home, vendor: LocalServer
) -> None:
    with home.terminal("setup", extra=at(vendor)) as terminal:
        type_key(terminal)
        first = terminal.expect("0 goes back")
        assert "(1 to 20 of 62)" in first
        assert "gpt-20" not in first
        terminal.expect(PROMPT)
        terminal.say("+")
        assert "gpt-20" in terminal.expect("0 goes back")
        terminal.expect(PROMPT)
        terminal.say("CHAT")
        assert "gpt-20" not in terminal.expect("0 goes back")
        terminal.expect(f"Which? Enter: chatty {PROMPT}")
        terminal.say("0")
        terminal.expect("(1 to 20 of 62)")
        terminal.expect(PROMPT)
        terminal.say("of-tomorrow")
        terminal.expect("No name has 'of-tomorrow' in it.")
        terminal.expect(f"Which? Enter: of-tomorrow {PROMPT}")
        terminal.say("")
        terminal.expect("It does not work. The model failed:")
        # The step is offered again.
        terminal.expect(MODELS)
        terminal.expect(PROMPT)
        terminal.say("3")
        terminal.expect("Ready: openai/gpt-2 asked operator")
        decline_vault(terminal)
        assert terminal.wait() == 0


def test_a_key_is_never_written_into_the_settings_of_a_folder(home: Home, vendor: LocalServer) -> None:
    file = home.work / "sestet.yaml"
    file.write_text("agent: {provider: offline}\n", encoding="utf-8")
    with home.terminal("setup", extra=at(vendor)) as terminal:
        type_key(terminal)
        assert "~/work/sestet.yaml stays as it is" in terminal.raw
        terminal.expect(f"Which? Enter: gpt-4.1-mini {PROMPT}")
        terminal.say("")
        terminal.expect("Written to ~/.config/sestet/sestet.yaml")
        decline_vault(terminal)
        assert terminal.wait() == 0
    assert file.read_text(encoding="utf-8") == "agent: {provider: offline}\n"
    assert KEY in own_settings(home).read_text(encoding="utf-8")


def test_a_vendor_that_cannot_be_reached_is_said_and_a_name_can_be_given_all_the_same(home: Home) -> None:
    extra = {"SESTET_PROVIDERS__OPENAI__BASEURL": f"{NOWHERE}/v1"}
    with home.terminal("setup", extra=extra) as terminal:
        type_key(terminal)
        terminal.expect("cannot be reached")
        terminal.expect("The list is not known: write the name of one.")
        terminal.expect(f"Which? Enter: gpt-4.1-mini {PROMPT}")
        terminal.say("gpt-next")
        terminal.expect("Trying openai/gpt-next with one turn")
        terminal.expect("It does not work.")
        terminal.expect(f"Which? Enter: gpt-4.1-mini {PROMPT}")
        terminal.say("0")
        terminal.expect("You can choose:")
        terminal.expect(f"Which? Enter: leave it as it is {PROMPT}")
        terminal.say("")
        terminal.expect("No settings were changed.")
        assert terminal.wait() == 1
    assert not own_settings(home).exists()


def test_a_server_is_named_by_an_address_that_can_be_typed_again(home: Home) -> None:
    with running(Ollama([Served("tiny"), Served("small")])) as server, home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.say("address")
        terminal.expect(ADDRESS)
        terminal.expect(PROMPT)
        terminal.say("ftp://127.0.0.1")
        terminal.expect("that is not an address")
        terminal.expect(PROMPT)
        terminal.say("127.0.0.1:1")
        terminal.expect("no model server answers at 127.0.0.1:1: is it running")
        terminal.expect(PROMPT)
        terminal.say(f"127.0.0.1:{server.port}")
        terminal.expect("Models of Ollama")
        terminal.expect(f"Which? Enter: tiny {PROMPT}")
        terminal.say("small")
        terminal.expect("Ready: ollama/small asked operator")
        assert terminal.wait() == 0
    provider = load_settings(own_settings(home)).settings.providers["ollama"]
    assert (provider.base_url, provider.api_key) == (f"{server.root}/v1", "")


def test_a_server_that_wants_a_key_is_given_one(home: Home) -> None:
    with running(Plain([Served("tiny")], key=KEY)) as server, home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.say("address")
        terminal.expect(PROMPT)
        terminal.say(server.root)
        terminal.expect("wants a key")
        terminal.expect(PROMPT)
        terminal.say("sk-mistyped")
        terminal.expect("does not accept the key")
        terminal.expect(PROMPT)
        terminal.say(KEY)
        terminal.expect(f"Which? Enter: tiny {PROMPT}")
        terminal.say("")
        terminal.expect("Ready: server/tiny")
        assert terminal.wait() == 0
        assert "secret" not in terminal.raw
    assert own_settings(home).stat().st_mode & 0o777 == 0o600


def test_a_server_with_many_models_is_one_row_that_opens_a_list(home: Home) -> None:
    with running(Ollama([Served(f"m{number}") for number in range(9)])) as server:
        home.with_program(elsewhere.__file__, server.root)
        with home.terminal("setup") as terminal:
            assert "9 models" in terminal.expect(f"Which? Enter: ollama {PROMPT}")
            terminal.say("")
            terminal.expect("Models of Ollama")
            terminal.expect(PROMPT)
            terminal.say("m7")
            terminal.expect("Ready: ollama/m7 asked operator")
            assert terminal.wait() == 0


def test_keeping_the_built_in_model_writes_nothing(home: Home) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(f"Which? Enter: offline {PROMPT}")
        terminal.say("")
        terminal.expect("No settings were written.")
        assert terminal.wait() == 0
    assert not own_settings(home).exists()


def test_going_back_to_the_built_in_model_says_what_is_written(home: Home) -> None:
    file = own_settings(home)
    file.parent.mkdir(parents=True)
    file.write_text("agent: {provider: o, model: m}\nproviders: {o: {apiKey: k}}\n", encoding="utf-8")
    with home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.say("offline")
        terminal.expect("Written to ~/.config/sestet/sestet.yaml")
        assert terminal.wait() == 0
    assert load_settings(file).settings.agent.provider == "offline"


def test_a_model_to_fetch_needs_its_engine_and_the_dialogue_goes_on_without_it(home: Home) -> None:
    with home.terminal("setup") as terminal:
        terminal.expect(PROMPT)
        terminal.say("fetch")
        terminal.expect("needs a package: ")
        terminal.expect("You can choose:")
        terminal.expect(PROMPT)


def test_a_model_to_fetch_is_shown_with_its_size_and_asked_about(home: Home) -> None:
    with home.terminal("setup", extra={"WITH_ENGINE": "1"}) as terminal:
        terminal.expect(PROMPT)
        terminal.say("fetch")
        terminal.expect("98 MB, Apache-2.0")
        terminal.expect(PROMPT)
        terminal.say("smollm2-135m")
        terminal.expect("98 MB on disk")
        terminal.expect("Fetch it? [y/N]:")
        terminal.say("n")
        terminal.expect("You can choose:")
        terminal.expect(PROMPT)


WORDS_OF = {
    "key": f"The key of OpenAI, which is not shown. Enter: back {PROMPT}",
    "models": f"Which? Enter: gpt-4.1-mini {PROMPT}",
    "address": f"Its address, such as 192.168.1.5:8080. Enter: back {PROMPT}",
    "confirm": "[y/N]:",
}


@pytest.mark.parametrize(
    ("step", "key"), [("key", CTRL_C), ("models", CTRL_D), ("address", CTRL_C), ("confirm", CTRL_C)]
)
def test_leaving_at_any_step_changes_nothing(home: Home, vendor: LocalServer, step: str, key: str) -> None:
    with home.terminal("setup", extra={**at(vendor), "WITH_ENGINE": "1"}) as terminal:
        if step == "models":
            type_key(terminal)
            terminal.expect(MODELS)
        else:
            terminal.expect(f"Which? Enter: offline {PROMPT}")
            terminal.say({"address": "address", "confirm": "fetch"}.get(step, "key"))
        if step in ("key", "confirm"):
            terminal.expect("goes back.")
            terminal.expect(PROMPT)
            terminal.say("1")
        # A prompt is drawn again when its line is sent, so the words of the next one count.
        terminal.expect(WORDS_OF[step])
        if step != "confirm":
            terminal.expect_keys()
        terminal.press(key)
        terminal.expect("No settings were changed.")
        assert terminal.wait() == 1
    assert not own_settings(home).exists()
