"""Tasks with passwords and sessions: the broker types the secret, and the model never sees it."""

import pytest

from sestet.core.errors import ToolError
from sestet.services.vault.vault import Vault
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Received, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PASSWORD = "Tr0ub4dor&3 geheim ü"
LOGIN = """<h1>Sign in</h1><form method=post action=/session><label>User <input name=user></label>
    <label>Password <input type=password name=password></label><button>Sign in</button></form>"""


def keep_sessions(web: Web) -> None:
    """A site with a login form, a page for those who are signed in, and a way out."""

    def session(received: Received) -> Answer:
        if received.form["password"] != [PASSWORD]:
            return Answer(f"<p>Wrong password.</p>{LOGIN}", 401)
        cookie = f"session={received.form['user'][0]}-42; HttpOnly; Path=/; SameSite=Lax"
        return Answer(status=303, headers={"Location": "/account", "Set-Cookie": cookie})

    def account(received: Received) -> Answer:
        if received.cookies.get("session") != "ada-42":
            return Answer(status=303, headers={"Location": "/login"})
        return Answer("<h1>Hello Ada</h1><form method=post action=/out><button>Sign out</button></form>")

    web.pages |= {"/login": LOGIN, "/session": session, "/account": account}
    gone = {"Location": "/login", "Set-Cookie": "session=; Max-Age=0; Path=/"}
    web.pages["/out"] = Answer(status=303, headers=gone)


async def test_a_secret_of_the_vault_signs_in_and_out(surfer: Surfer, web: Web, vault: Vault) -> None:
    keep_sessions(web)
    vault.store("shop", PASSWORD.encode(), [web.url()])
    told = [await surfer.go(web.url("/account"))]
    assert "This page wants somebody to sign in" in told[0]

    told.append(await surfer.fill(web.site, {"User": "ada", "Password": "vault:shop"}))
    told.append(await surfer.submit(web.site, "Sign in"))
    assert "# Hello Ada" in told[-1]
    assert surfer.label.private
    told.append(await surfer.go(web.url("/account")))
    assert "# Hello Ada" in told[-1]
    told.append(await surfer.submit(web.site, "Sign out"))
    assert "# Sign in" in told[-1]

    assert [each.form["password"] for each in web.posts("/session")] == [[PASSWORD]]
    assert web.gets("/account")[-1].cookies == {"session": "ada-42"}
    assert PASSWORD not in "".join(told)


async def test_a_wrong_password_is_told_by_the_page(surfer: Surfer, web: Web, vault: Vault) -> None:
    keep_sessions(web)
    vault.store("shop", b"another password", [web.url()])
    await surfer.go(web.url("/login"))
    await surfer.fill(web.site, {"User": "ada", "Password": "vault:shop"})

    assert "Wrong password." in await surfer.submit(web.site, "Sign in")


async def test_a_login_in_two_steps_is_gone_through(surfer: Surfer, web: Web, vault: Vault) -> None:
    vault.store("shop", PASSWORD.encode(), [web.url()])
    web.pages["/"] = """<form method=post action=/who><label>E-mail <input type=email name=mail></label>
        <button>Next</button></form>"""
    web.pages["/who"] = lambda received: (
        f"<p>{received.form['mail'][0]}</p><form method=post action=/enter><label>Password "
        "<input type=password name=password></label><button>Sign in</button></form>"
    )
    web.pages["/enter"] = lambda received: (
        f"<h1>{'In' if received.form['password'] == [PASSWORD] else 'Out'}</h1>"
    )
    await surfer.go(web.url())
    await surfer.fill(web.site, {"E-mail": "ada@example.org"})
    await surfer.submit(web.site, "Next")
    await surfer.fill(web.site, {"Password": "vault:shop"})

    assert "# In" in await surfer.submit(web.site, "Sign in")
    assert [each.path for each in web.posts()] == ["/who", "/enter"]


async def test_a_login_in_a_frame_of_another_site_gets_the_secret_of_that_site(
    surfer: Surfer, web: Web, other: Web, vault: Vault
) -> None:
    keep_sessions(other)
    vault.store("shop", PASSWORD.encode(), [other.url()])
    vault.store("mine", PASSWORD.encode(), [web.url()])
    web.pages["/"] = f"<h1>Portal</h1><iframe src={other.url('/login')} width=600 height=400></iframe>"
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="mine"):
        await surfer.fill(other.site, {"Password": "vault:mine"})
    await surfer.fill(other.site, {"User": "ada", "Password": "vault:shop"})
    await surfer.submit(other.site, "Sign in")

    assert [each.form for each in other.posts("/session")] == [{"user": ["ada"], "password": [PASSWORD]}]
    assert web.posts() == []


async def test_a_password_that_the_model_writes_itself_is_refused(
    surfer: Surfer, web: Web, vault: Vault
) -> None:
    web.pages["/login"] = LOGIN
    await surfer.go(web.url("/login"))

    with pytest.raises(ToolError, match="give a reference of the vault"):
        await surfer.fill(web.site, {"Password": "guess"})
    with pytest.raises(ToolError, match="a secret goes into a password field alone"):
        await surfer.fill(web.site, {"User": "vault:shop"})
    with pytest.raises(ToolError, match="holds nothing named 'none'"):
        await surfer.fill(web.site, {"Password": "vault:none"})


async def test_conversations_share_no_session(surfer: Surfer, web: Web, vault: Vault) -> None:
    keep_sessions(web)
    vault.store("shop", PASSWORD.encode(), [web.url()])
    await surfer.go(web.url("/login"))
    await surfer.fill(web.site, {"User": "ada", "Password": "vault:shop"})
    await surfer.submit(web.site, "Sign in")

    surfer.session += " another"
    assert "# Sign in" in await surfer.go(web.url("/account"))


async def test_a_controlled_password_field_takes_the_secret(surfer: Surfer, web: Web, vault: Vault) -> None:
    vault.store("shop", PASSWORD.encode(), [web.url()])
    web.pages[
        "/"
    ] = """<label>Password <input id=p type=password></label><button id=b disabled>Enter</button><script>
        let state = '';
        p.addEventListener('input', () => { state = p.value; b.disabled = !state; });
        b.onclick = () => fetch('/enter', { method: 'POST', body: state })</script>"""
    await surfer.go(web.url())
    told = await surfer.fill(web.site, {"Password": "vault:shop"})
    assert "•••" in told
    await surfer.submit(web.site, "Enter")

    assert [each.body.decode() for each in web.posts("/enter")] == [PASSWORD]
