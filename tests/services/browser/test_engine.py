"""The life of the browser: it ends when it is idle, too large or killed, and says why it does not start."""

import asyncio
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from sestet.agents.navigator import pages, using
from sestet.config.browser_settings import BrowserSettings
from sestet.core.errors import InDoubtError, ToolError
from sestet.services.browser import engine, program
from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.browser import Browser
from sestet.services.browser.chromium import BrowserPlan, Chromium
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.egress import Egress
from sestet.services.browser.processes import all_processes
from sestet.services.browser.program import find_chromium, has_chromium
from tests.agents.calling import CALL, LATER, run
from tests.services.browser.tasks.web import Answer, Web, serving

ROOT = Path(__file__).parents[3]
#: The kernel may still be ending its threads when the next call begins: then the call itself meets the end.
LOST = "has crashed; its pages are closed: open what you need again|has ended; the next call starts a new one"
needs_chromium = pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed")


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for profiles alone; the user that Chromium becomes may pass through it."""
    # Its name is short: the path of a socket in a profile has at most 107 characters.
    directory = Path(tempfile.mkdtemp(prefix="s-"))
    directory.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving("127.0.0.1") as web:
        web.pages |= {
            "/": "<h1>Fine</h1>",
            "/slow": Answer("<h1>Slow</h1>", late=4.0),
            "/form": "<form method=post action=/send><button>Send</button></form>",
            "/send": Answer("<h1>Sent</h1>", late=4.0),
        }
        yield web


@asynccontextmanager
async def browsing(
    web: Web, *, memory_mb: int = 1_500, idle_minutes: float = 15.0, visible: bool = False
) -> AsyncGenerator[Browser]:
    settings = BrowserSettings(
        allow=(web.site,), memory_mb=memory_mb, idle_minutes=idle_minutes, visible=visible
    )
    browser = Browser(settings, CookieStore(Path("unused"), {}))
    try:
        yield browser
    finally:
        await browser.close()


async def go(browser: Browser, web: Web, path: str = "/") -> str:
    return await run(pages.browser_navigate, browser, url=web.url(path))


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def browsers(temporary: Path) -> list[int]:
    """The processes of browsers whose profile is in this directory."""
    found: list[int] = []
    for pid in all_processes():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(each.startswith(f"HOME={temporary}/".encode()) for each in environment):
            found.append(pid)
    return found


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    async with asyncio.timeout(120):
        while not is_so():  # noqa: ASYNC110 - nobody tells that a process has ended
            await asyncio.sleep(0.05)


def chromium_states() -> dict[int, str]:
    """The browsers of this test, with the state of each; those of other tests have their home elsewhere."""
    home = f"HOME={tempfile.gettempdir()}/".encode()
    found: dict[int, str] = {}
    for pid in all_processes():
        with suppress(OSError, IndexError):
            name, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
            is_child = rest.split()[1] == str(os.getpid()) and "chrom" in name
            if is_child and home in Path(f"/proc/{pid}/environ").read_bytes():
                found[pid] = rest.split()[0]
    return found


def is_running() -> bool:
    return any(state not in "ZX" for state in chromium_states().values())


def kill_chromium() -> None:
    for pid in chromium_states():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@needs_chromium
async def test_a_browser_that_is_killed_in_a_call_says_so_and_the_next_call_starts_a_new_one(
    web: Web, temporary: Path
) -> None:
    async with browsing(web) as browser:
        call = asyncio.create_task(go(browser, web, "/slow"))
        await until(lambda: bool(web.gets("/slow")))
        kill_chromium()
        with pytest.raises(BrowserError, match="the browser has ended; the next call starts a new one"):
            await call

        assert "# Fine" in await go(browser, web)
        assert len(names_in(temporary)) == 1
    assert browsers(temporary) == []
    assert names_in(temporary) == set()


@pytest.mark.slow
@needs_chromium
async def test_a_submission_during_which_the_browser_is_killed_is_in_doubt(web: Web, temporary: Path) -> None:
    async with browsing(web) as browser:
        await go(browser, web, "/form")
        call = asyncio.create_task(run(using.browser_submit, browser, site=web.site, target="Send"))
        await until(lambda: bool(web.posts("/send")))
        kill_chromium()
        with pytest.raises(InDoubtError, match="whether it was sent is not known"):
            await call
    assert len(web.posts("/send")) == 1


@pytest.mark.slow
@needs_chromium
async def test_pages_that_were_lost_between_two_calls_are_told_once(web: Web, temporary: Path) -> None:
    async with browsing(web) as browser:
        await go(browser, web)
        kill_chromium()
        await until(lambda: not is_running())
        with pytest.raises(BrowserError, match=LOST):
            await run(pages.browser_read, browser)
        assert "# Fine" in await go(browser, web)
        assert "# Fine" in await run(pages.browser_read, browser)


@pytest.mark.slow
@needs_chromium
async def test_a_browser_that_nobody_uses_ends_and_starts_again(
    web: Web, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    async with browsing(web, idle_minutes=0.005) as browser:
        await go(browser, web)
        await until(lambda: not browsers(temporary) and not names_in(temporary))

        assert "# Fine" in await go(browser, web)


@pytest.mark.slow
@needs_chromium
async def test_a_browser_that_uses_too_much_memory_is_ended_and_says_so(
    web: Web, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    async with browsing(web, memory_mb=20) as browser:
        call = asyncio.create_task(go(browser, web, "/slow"))
        with pytest.raises(ToolError):
            await call
        await until(lambda: not browsers(temporary))
        with pytest.raises(ToolError, match=r"used more than 20 MB \(browser.memoryMb\)"):
            await go(browser, web)


@pytest.mark.slow
@needs_chromium
async def test_a_page_that_is_too_large_takes_nothing_from_other_conversations(
    web: Web, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    packed = gzip.compress(b"<p>" + b"a " * 30_000_000)
    web.pages |= {
        "/bomb": Answer(packed, headers={"Content-Encoding": "gzip"}),
        "/sign-in": Answer("<h1>Signed in</h1>", headers={"Set-Cookie": "user=ada"}),
        "/account": lambda received: f"<h1>Account of {received.cookies['user']}</h1>",
    }
    async with browsing(web, memory_mb=500) as browser:
        await run(pages.browser_navigate, browser, call=LATER, url=web.url("/sign-in"))
        before = browsers(temporary)

        with pytest.raises(ToolError, match="the page was ended: pages used more than 500 MB"):
            await go(browser, web, "/bomb")

        # The other page is as it was, and so are its cookies; the conversation of the bomb goes on too.
        assert "# Signed in" in await run(pages.browser_read, browser, call=LATER)
        told = await run(pages.browser_navigate, browser, call=LATER, url=web.url("/account"))
        assert "# Account of ada" in told
        assert "# Fine" in await go(browser, web)
        assert set(chromium_states()) <= set(before)


@pytest.mark.slow
@needs_chromium
async def test_a_command_to_a_page_whose_process_is_gone_does_not_wait_for_an_answer(web: Web) -> None:
    async with browsing(web) as browser, browser.visit(CALL) as visitor:
        await visitor.navigate(web.url())
        tab = visitor.window.tab
        asked = asyncio.create_task(tab.main_frame().call("() => new Promise(() => {})"))
        await asyncio.sleep(0)

        assert await asyncio.to_thread(visitor.window.chromium.end_largest_page, 10_000)

        async with asyncio.timeout(15):
            for answer in (asked, tab.main_frame().call("() => true")):
                with pytest.raises(BrowserError, match="the page has crashed or was closed; open it again"):
                    await answer


@pytest.mark.slow
@needs_chromium
async def test_the_browser_of_a_killed_sestet_is_gone_after_the_next_start(web: Web, temporary: Path) -> None:
    program = (
        "import asyncio, sys; from sestet.config.browser_settings import BrowserSettings as S\n"
        "from sestet.services.browser.browser import Browser; from pathlib import Path\n"
        "from sestet.services.browser.cookies import CookieStore\n"
        "from sestet.agents.navigator.pages import browser_navigate\n"
        "from tests.agents.calling import CALL, LATER, run\n"
        "b = Browser(S(allow=(sys.argv[1],)), CookieStore(Path('unused'), {}))\n"
        "asyncio.run(run(browser_navigate, b, url=f'http://{sys.argv[1]}/slow'))\n"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    sestet = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, web.site, cwd=ROOT, env=environment
    )
    await until(lambda: bool(web.gets("/slow")))
    assert browsers(temporary)
    sestet.kill()
    await sestet.wait()
    left = names_in(temporary)
    assert left

    async with browsing(web) as browser:
        assert "# Fine" in await go(browser, web)
        assert not left & names_in(temporary)
    await until(lambda: not browsers(temporary))
    assert names_in(temporary) == set()


async def refusal(plan: BrowserPlan) -> str:
    with pytest.raises(BrowserError) as refused:
        await Chromium.start(plan, Egress(AddressRules(())))
    return str(refused.value)


@pytest.mark.slow
async def test_a_window_without_a_screen_says_so(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_chromium(visible=True):
        pytest.skip("no Chromium that has a window is installed")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    said = await refusal(BrowserPlan(find_chromium(visible=True), visible=True))

    assert (
        said == "the browser did not start: there is no screen for its window; set 'browser.visible: false'"
    )
    assert names_in(temporary) == set()


@pytest.mark.slow
@needs_chromium
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch user namespaces off")
async def test_without_user_namespaces_the_browser_refuses_to_start_and_says_the_way_out(
    temporary: Path,
) -> None:
    program = [sys.executable, "-m", "tests.services.browser.without_namespaces"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    said = await asyncio.to_thread(subprocess.check_output, program, cwd=ROOT, env=environment, text=True)

    assert "does not let it build its own sandbox (user namespaces are off)" in said
    assert "'browser.sandbox: off' starts it without one" in said
    assert names_in(temporary) == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("[1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are", "'browser.sandbox: off'"),
        ("Failed to move to new namespace: PID namespaces supported", "'browser.sandbox: off'"),
        ("error while loading shared libraries: libnss3.so", "libnss3.so"),
        ("", "did not start"),
    ],
)
async def test_why_chromium_does_not_start_is_read_from_its_words(
    temporary: Path, words: str, said: str
) -> None:
    script = temporary / "chromium"
    script.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    script.chmod(0o755)

    assert said in await refusal(BrowserPlan(str(script)))
    assert names_in(temporary) == {script.name}


@pytest.mark.parametrize("visible", [True, False])
async def test_the_full_browser_starts_without_a_window_that_would_be_its_last(
    temporary: Path, visible: bool
) -> None:
    """Sestet closes the browser's own first page, and the full browser ends with its last window."""
    script = temporary / "chromium"
    script.write_text(
        '#!/bin/sh\nfor each; do echo "$each"; done | grep -e --no-startup-window >&2\nexit 1\n'
    )
    script.chmod(0o755)

    assert "--no-startup-window" in await refusal(BrowserPlan(str(script), visible))


def test_a_snap_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setattr(program, "_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))

    def as_snap(path: str) -> str:
        return f"/snap/{path}"

    monkeypatch.setattr(program.os.path, "realpath", as_snap)

    with pytest.raises(ToolError, match=r"chromium' is a snap, whose own confinement .* apt-get install"):
        find_chromium()
