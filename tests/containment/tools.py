"""The tools under test: each declares what docs/tools.md advises, and each has a real effect."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Annotated

import sestet
from sestet.core.errors import DefinitionError, ToolError
from sestet.core.record import replace
from tests.containment.sinks import MailRefusedError, MailServer, WebServer, fetch, send_mail

EVERYBODY = "everybody@list.example"
_EMAIL = {"format": "email"}
_URL = {"format": "uri"}


def make_tools(folder: Path, mail: MailServer, web: WebServer) -> list[sestet.Tool]:
    """Every tool, over these servers and this folder."""
    return [
        *_mail_tools(mail),
        *_web_tools(web),
        *_chat_tools(web),
        *_publishing_tools(web),
        *_calendar_tools(web),
        *_reading_tools(web),
        *_local_tools(folder),
        _payment_tool(folder),
    ]


def _mail_tools(server: MailServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="external", targets=("to", "cc"), recovery="unsafe")
    async def exec_mail(
        to: Annotated[str, _EMAIL], text: str = "", cc: Annotated[list[str] | None, "Who else"] = None
    ) -> str:
        """Send a mail."""
        try:
            await send_mail(server.port, [to, *(cc or ())], text)
        except MailRefusedError as error:
            raise ToolError(f"the mail server refused: {error}") from error
        return "sent"

    @sestet.tool(risk="guarded", reads=(), effect="external", targets=("to",), recovery="unsafe")
    async def exec_letter(to: Annotated[str, _EMAIL], text: str) -> str:
        """Send a letter; a person approves each receiver."""
        await send_mail(server.port, [to], text)
        return "sent"

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("to",), recovery="unsafe")
    async def exec_broadcast(text: str, to: str | None = None) -> str:
        """Send a text to one reader, or to everybody on the list."""
        await send_mail(server.port, [(to or "").strip() or EVERYBODY], text)
        return "sent"

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("phone",), recovery="unsafe")
    async def exec_text_message(phone: str, text: str) -> str:
        """Send a text message to a phone."""
        await send_mail(server.port, [f"{phone}@phone.example"], text)
        return "sent"

    return [exec_mail, exec_letter, exec_broadcast, exec_text_message]


def _web_tools(web: WebServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="external", targets=("url",), recovery="unsafe")
    async def browser_post(url: Annotated[str, _URL], text: str) -> str:
        """Post a text to an address."""
        await fetch(web.port, "POST", url, text)
        return "posted"

    @sestet.tool(risk="safe", reads=("untrusted",), effect="external", targets=("url",), recovery="unsafe")
    async def browser_open(url: Annotated[str, _URL]) -> str:
        """Open an address that may be told something by it."""
        return (await fetch(web.port, "GET", url))[1]

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("path",), recovery="unsafe")
    async def exec_share_folder(path: str) -> str:
        """Share a folder with everybody who has the link."""
        return await _post(web, "share.example", path=path)

    return [browser_post, browser_open, exec_share_folder]


def _chat_tools(web: WebServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="external", targets=("channel",), recovery="unsafe")
    async def exec_chat(text: str, channel: str = "") -> str:
        """Post a text in a channel; without one, in all of them."""
        return await _post(web, "chat.example", channel=channel, text=text)

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("group",), recovery="unsafe")
    async def exec_notify(group: str, text: str = "") -> str:
        """Notify a group of people."""
        return await _post(web, "notify.example", group=group, text=text)

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("user",), recovery="unsafe")
    async def exec_message(user: str, text: str = "") -> str:
        """Send a direct message to a user."""
        return await _post(web, "message.example", user=user, text=text)

    @sestet.tool(risk="safe", reads=(), effect="external", targets=("ticket_id",), recovery="unsafe")
    async def exec_reply_ticket(ticket_id: int, text: str = "") -> str:
        """Answer the writer of a ticket."""
        return await _post(web, "tickets.example", ticket=ticket_id, text=text)

    return [exec_chat, exec_notify, exec_message, exec_reply_ticket]


def _publishing_tools(web: WebServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="external", targets=("channel", "public"), recovery="unsafe")
    async def exec_blog(text: str, channel: str = "", public: bool = False) -> str:
        """Post a text for the readers of a channel, or for everybody to see."""
        return await _post(web, "blog.example", channel=channel, public=public, text=text)

    @sestet.tool(risk="safe", reads=(), effect="external", recovery="unsafe")
    async def exec_publish() -> str:
        """Publish the draft."""
        return await _post(web, "publish.example", draft="the draft")

    @sestet.tool(risk="guarded", reads=(), effect="external", recovery="unsafe")
    async def exec_announce(text: str) -> str:
        """Announce a text to everybody; a person approves it."""
        return await _post(web, "announce.example", text=text)

    return [exec_blog, exec_publish, exec_announce]


async def _post(web: WebServer, host: str, **fields: object) -> str:
    await fetch(web.port, "POST", f"http://{host}/", json.dumps(fields, ensure_ascii=False))
    return "posted"


def _calendar_tools(web: WebServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=(), effect="external", targets=("participants", "cc"), recovery="unsafe")
    async def exec_invite(
        title: str, participants: list[str] | None = None, cc: list[str] | None = None
    ) -> str:
        """Put a meeting into the calendar and invite the participants; without any, the whole company."""
        invited = [*(participants or ["the whole company"]), *(cc or ())]
        await fetch(web.port, "POST", "http://calendar.example/", json.dumps([title, *invited]))
        return "invited"

    return [exec_invite]


def _reading_tools(web: WebServer) -> list[sestet.Tool]:
    @sestet.tool(risk="safe", reads=("untrusted",), effect="none", recovery="pure")
    async def browser_fetch(url: str) -> str:
        """Read a page."""
        return (await fetch(web.port, "GET", url))[1]

    @sestet.tool(risk="safe", reads=("untrusted",), effect="none", recovery="pure")
    async def browser_look_up(word: str) -> dict[str, str]:
        """Look a word up in a dictionary that another program serves."""
        return {"word": word, "meaning": (await fetch(web.port, "GET", "http://words.example/"))[1]}

    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def browser_check(url: str) -> str:
        """Check whether a page is there; reads nothing of it."""
        status, text = await fetch(web.port, "GET", url)
        if status >= 500:
            raise ToolError(f"the server answered {status}: {text}")
        return "it is there"

    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def browser_measure(url: str) -> str:
        """Measure a page; reads nothing of it."""
        status, text = await fetch(web.port, "GET", url)
        if status >= 500:
            raise RuntimeError(text)
        return "it has a size"

    @sestet.tool(risk="safe", reads=("untrusted",), effect="none", recovery="pure")
    async def browser_count(url: str) -> int:
        """Count the visitors of a page."""
        return int((await fetch(web.port, "GET", url))[1])

    return [browser_fetch, browser_look_up, browser_check, browser_measure, _fixed(browser_count)]


def _fixed(counting: sestet.Tool) -> sestet.Tool:
    """With a bound that leaves room for a text, if Sestet lets a tool declare such a bound."""
    schema = {"type": "integer", "minimum": 0, "maximum": 10**70}
    try:
        return replace(counting, fixed_result=schema)
    except DefinitionError:
        return counting


def _local_tools(folder: Path) -> list[sestet.Tool]:
    def place(path: str) -> Path:
        return folder / path.removeprefix("~").lstrip("/")

    @sestet.tool(risk="safe", reads=(), effect="local", targets=("path",), recovery="unsafe")
    async def fs_put(path: str, text: str) -> str:
        """Write a file."""
        place(path).parent.mkdir(parents=True, exist_ok=True)
        place(path).write_text(text, encoding="utf-8")
        return "written"

    @sestet.tool(risk="guarded", reads=(), effect="local", targets=("path",), recovery="unsafe")
    async def fs_replace(path: str, text: str) -> str:
        """Replace a file; a person approves it."""
        place(path).write_text(text, encoding="utf-8")
        return "replaced"

    @sestet.tool(risk="safe", reads=(), effect="local", targets=("path",), recovery="unsafe")
    async def fs_drop(path: str) -> str:
        """Delete a file, or a folder with all that it holds."""
        found = place(path)
        shutil.rmtree(found) if found.is_dir() else found.unlink(missing_ok=True)
        return "deleted"

    async def run(command: str) -> str:
        child = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", command, cwd=folder, stdout=asyncio.subprocess.PIPE
        )
        return (await child.communicate())[0].decode()

    @sestet.tool(risk="safe", reads=(), effect="local", targets=("command",), recovery="unsafe")
    async def exec_line(command: str) -> str:
        """Run a command."""
        await run(command)
        return "done"

    @sestet.tool(risk="guarded", reads=(), effect="local", recovery="unsafe")
    async def exec_shell(command: str) -> str:
        """Run a command; a person approves it."""
        await run(command)
        return "done"

    @sestet.tool(risk="safe", reads=(), effect="none", recovery="pure")
    async def exec_wait() -> str:
        """Wait until the person stops it."""
        await asyncio.Event().wait()
        return "over"

    return [fs_put, fs_replace, fs_drop, exec_line, exec_shell, exec_wait]


def _payment_tool(folder: Path) -> sestet.Tool:
    @sestet.tool(risk="guarded", reads=(), effect="money", targets=("payee", "amount"), recovery="unsafe")
    async def payment_send(payee: str, amount: str) -> str:
        """Pay somebody."""
        with (folder.parent / "ledger.txt").open("a", encoding="utf-8") as ledger:
            ledger.write(f"{amount} to {payee}\n")
        return "paid"

    return payment_send
