"""Forms that go to another site than their page, as from app.example.com to api.example.com."""

import pytest

from sestet.core.errors import ToolError
from sestet.services.vault.vault import Vault
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Received, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FIELDS = "<label>Name <input name=name></label>"


def plain_form(receiver: Web) -> str:
    return f"<form method=post action={receiver.url('/take')}>{FIELDS}<button>Send</button></form>"


def script_form(receiver: Web, also: str = "") -> str:
    """A form whose script sends it; its own address says nothing of the receiver."""
    return f"""<form>{FIELDS}<button>Send</button></form><p id=p></p><script>
        document.forms[0].onsubmit = (event) => {{ event.preventDefault(); {also}
          fetch('{receiver.url("/take")}', {{method: 'POST', body: new URLSearchParams({{name: 'Ada'}})}})
            .then(() => p.textContent = 'Thank you', () => p.textContent = 'It failed'); }};</script>"""


def allows_all(_: Received) -> Answer:
    return Answer("<p>Taken", headers={"Access-Control-Allow-Origin": "*"})


async def test_a_form_goes_to_another_site_that_the_call_names(surfer: Surfer, web: Web, other: Web) -> None:
    web.pages["/"] = plain_form(other)
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})

    with pytest.raises(ToolError, match=f"belongs to '{other.site}', not to '{web.site}'"):
        await surfer.submit(web.site, "Send")
    assert other.posts() == []
    assert "Thanks" in await surfer.submit(other.site, "Send")

    (post,) = other.posts("/take")
    assert post.form == {"name": ["Ada"]}
    assert web.posts() == []


async def test_a_script_that_sends_a_form_to_another_site_needs_its_name(
    surfer: Surfer, web: Web, other: Web
) -> None:
    web.pages["/"] = script_form(other)
    other.pages["/take"] = allows_all
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})
    with pytest.raises(ToolError, match=f"belongs to '{web.site}', not to '{other.site}'"):
        await surfer.submit(other.site, "Send")

    with pytest.raises(
        ToolError, match=rf"was stopped\. If '{other.site}' is meant to get it, use browser_sub"
    ):
        await surfer.submit(web.site, "Send")
    assert other.posts() == []
    assert "Thank you" in await surfer.submit(other.site, "Send")

    assert [post.form for post in other.posts("/take")] == [{"name": ["Ada"]}]


async def test_a_form_that_its_own_site_has_got_goes_to_no_other(
    surfer: Surfer, web: Web, other: Web
) -> None:
    web.pages["/"] = script_form(other, also=f"fetch('{web.url('/copy')}', {{method: 'POST', body: 'Ada'}});")
    other.pages["/take"] = allows_all
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})
    await surfer.submit(web.site, "Send")
    assert (len(web.posts("/copy")), other.posts()) == (1, [])

    with pytest.raises(ToolError, match="not to"):
        await surfer.submit(other.site, "Send")

    assert other.posts() == []


async def test_only_the_receiver_that_was_named_gets_the_form(surfer: Surfer, web: Web, other: Web) -> None:
    copy = f"onsubmit=\"fetch('{web.url('/copy')}', {{method: 'POST', body: 'Ada', keepalive: true}})\""
    web.pages["/"] = plain_form(other).replace("<form", f"<form {copy}")
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})

    told = await surfer.submit(other.site, "Send")

    assert f"Stopped: what the page tried to send to {web.site}" in told
    assert (len(other.posts("/take")), web.posts()) == (1, [])


async def test_another_document_forgets_where_the_page_before_went(
    surfer: Surfer, web: Web, other: Web
) -> None:
    web.pages["/"] = web.pages["/next"] = script_form(other)
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})
    with pytest.raises(ToolError, match="was stopped"):
        await surfer.submit(web.site, "Send")
    await surfer.go(web.url("/next"))
    await surfer.fill(web.site, {"Name": "Ada"})

    with pytest.raises(ToolError, match=f"belongs to '{web.site}'"):
        await surfer.submit(other.site, "Send")

    assert other.posts() == []


@pytest.mark.parametrize("sends", [plain_form, script_form])
async def test_a_password_goes_to_no_other_site(
    surfer: Surfer, web: Web, other: Web, vault: Vault, sends: object
) -> None:
    vault.store("shop", b"correct-horse-battery-7731", [web.url()])
    page = plain_form(other) if sends is plain_form else script_form(other)
    web.pages["/"] = page.replace(FIELDS, "<label>Password <input type=password name=password></label>")
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Password": "vault:shop"})
    if sends is script_form:
        with pytest.raises(ToolError, match="was stopped"):
            await surfer.submit(web.site, "Send")

    with pytest.raises(ToolError, match="a password goes to its own site alone"):
        await surfer.submit(other.site, "Send")

    assert other.posts() == []
