"""Conversations share nothing, sites learn nothing of each other, and a page gets nothing of the machine."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

import asyncio
from pathlib import Path

import pytest

from tests.services.browser.attacks.arena import Arena, Refused, open_arena
from tests.services.browser.attacks.internet import EVIL, SHOP, Answer

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

#: Where a page keeps something: how it writes, and how it reads again.
STORES = {
    "a cookie": ("document.cookie = 'k=zanzibar; max-age=9999'", "document.cookie"),
    "local storage": ("localStorage.k = 'zanzibar'", "localStorage.k"),
    "session storage": ("sessionStorage.k = 'zanzibar'", "sessionStorage.k"),
    "the name of the window": ("window.name = 'zanzibar'", "window.name"),
    "the cache of scripts": (
        "await (await caches.open('c')).put('/k', new Response('zanzibar'))",
        "await (await (await caches.open('c')).match('/k'))?.text()",
    ),
    "a database": (
        "await new Promise((d) => { const o = indexedDB.open('b', 1);"
        " o.onupgradeneeded = () => o.result.createObjectStore('s').put('zanzibar', 'k'); o.onsuccess = d; })",
        "await new Promise((d) => { const o = indexedDB.open('b'); o.onsuccess = () => { try {"
        " const g = o.result.transaction('s').objectStore('s').get('k'); g.onsuccess = () => d(g.result);"
        " } catch { d('none'); } }; })",
    ),
    "a file of the origin": (
        "const f = await (await navigator.storage.getDirectory()).getFileHandle('k', {create: true});"
        "const w = await f.createWritable(); await w.write('zanzibar'); await w.close()",
        "await (async () => { try { return await (await (await (await navigator.storage.getDirectory())"
        ".getFileHandle('k')).getFile()).text() } catch { return 'none' } })()",
    ),
    "a service worker": (
        "await navigator.serviceWorker.register('/worker.js'); await navigator.serviceWorker.ready",
        "(await navigator.serviceWorker.getRegistrations()).length ? 'zanzibar' : 'none'",
    ),
}


def _page(script: str) -> str:
    return (
        "<p id=m>works</p><script>(async () => { let said; try { said = await (async () => {"
        f"{script} }})(); }} catch (e) {{ said = e.name }} document.getElementById('m').textContent ="
        " `done ${said}` })()</script>"
    )


@pytest.mark.parametrize("name", STORES)
async def test_a_store_ends_with_its_conversation(arena: Arena, name: str) -> None:
    write, read = STORES[name]
    arena.shop.pages["/worker.js"] = Answer("onfetch = () => 0", "text/javascript")
    arena.show(_page(write), "/write")
    arena.show(_page(f"return {read}"), "/read")
    writer, reader = arena.guest(), arena.guest()
    await writer.open(f"{arena.local}/write")
    assert "done undefined" in await writer.call("read", wait_for="done")
    await writer.open(f"{arena.local}/read")
    control = await writer.call("read", wait_for="done")
    await reader.open(f"{arena.local}/read")
    attack = await reader.call("read", wait_for="done")

    assert "done zanzibar" in control or "k=zanzibar" in control, control
    assert "done" in attack
    assert "zanzibar" not in attack


async def test_a_cache_does_not_name_a_visitor_of_another_conversation(arena: Arena) -> None:
    kept = {"Cache-Control": "max-age=9999", "ETag": '"zanzibar"'}
    arena.shop.pages["/id.js"] = Answer("document.title = 'cached'", "text/javascript", headers=kept)
    arena.show("<script src=/id.js></script><p>x")
    first, second = arena.guest(), arena.guest()
    counts: list[int] = []
    for guest in (first, first, second):
        await guest.open()
        counts.append(sum(each.path == "/id.js" for each in arena.shop.seen))

    assert counts == [1, 1, 2], "the first conversation used its own cache, the second did not"
    assert not any("if-none-match" in each.headers for each in arena.shop.seen)


async def test_conversations_cannot_speak_to_each_other(arena: Arena) -> None:
    arena.show(
        _page(
            "const c = new BroadcastChannel('x'); let got = 'nothing'; c.onmessage = (e) => { got = e.data };"
            "setInterval(() => c.postMessage(location.search), 50);"
            "await new Promise((d) => setTimeout(d, 1500)); return got"
        )
    )
    listener, speaker = arena.guest(), arena.guest()
    await asyncio.gather(listener.open(f"{arena.local}/?a"), speaker.open(f"{arena.local}/?b"))
    assert "done nothing" in await listener.call("read", wait_for="done")

    arena.show("<a href='/?c' target=_blank>again</a>", "/start")
    await speaker.open(f"{arena.local}/start")
    await speaker.call("click", target="again")
    await speaker.call("tab", tab="t1")
    await speaker.open(f"{arena.local}/?b")
    assert "done ?c" in await speaker.call("read", wait_for="done")


async def test_a_site_does_not_learn_where_the_browser_was_before(arena: Arena) -> None:
    arena.show(f"<p>private</p><a href='http://{EVIL}/linked'>go</a>", "/secret-path")
    arena.show(_page("return `length ${history.length} ${document.referrer}`"), site=arena.evil)
    arena.show(_page("return document.referrer"), "/linked", site=arena.evil)
    guest = arena.guest()
    await guest.open(f"http://{SHOP}/secret-path")
    opened = await guest.open(f"http://{EVIL}/")
    await guest.open(f"http://{SHOP}/secret-path")
    linked = await guest.call("click", target="go")

    assert "done length" in opened
    assert SHOP not in opened
    assert f"http://{SHOP}/" in linked, "a link tells its site, as in every browser"
    assert not arena.evil.learned("secret-path")


async def test_nothing_that_was_typed_is_filled_in_by_the_browser(arena: Arena) -> None:
    form = (
        "<form action=/done><label>Name <input name=name autocomplete=name></label>"
        "<label>E-mail <input type=email name=email autocomplete=email></label><button>Send</button></form>"
    )
    arena.show(form)
    arena.show("<p>thanks</p>", "/done")
    guest = arena.guest()
    await guest.open()
    await guest.call("fill", site=SHOP, fields={"Name": "Zanzibar", "E-mail": "z@zanzibar.example"})
    await guest.call("submit", site=SHOP, target="Send")
    again = await guest.open()

    assert arena.shop.learned("name=Zanzibar")
    assert "textbox Name" in again
    assert "anzibar" not in again


#: What a page asks the browser for; each answer must be a refusal.
ABILITIES = {
    "the place": "await new Promise((y, n) => navigator.geolocation.getCurrentPosition(y, n)).catch((e) => e.message)",
    "notifications": "await Notification.requestPermission()",
    "the camera": "await navigator.mediaDevices.getUserMedia({video: true}).catch((e) => e.name)",
    "the microphone": "await navigator.mediaDevices.getUserMedia({audio: true}).catch((e) => e.name)",
    "the screen": "await navigator.mediaDevices.getDisplayMedia().catch((e) => e.name)",
    "the clipboard": "await navigator.clipboard.readText().catch((e) => e.name)",
    "the devices of USB": "await navigator.usb?.requestDevice({filters: []}).catch((e) => e.name) ?? 'absent'",
    "the devices of bluetooth": "await navigator.bluetooth?.requestDevice({acceptAllDevices: true}).catch((e) => e.name) ?? 'absent'",
    "serial ports": "await navigator.serial?.requestPort().catch((e) => e.name) ?? 'absent'",
    "input devices": "await navigator.hid?.requestDevice({filters: []}).catch((e) => e.name) ?? 'absent'",
    "midi": "await navigator.requestMIDIAccess?.({sysex: true}).catch((e) => e.name) ?? 'absent'",
    "files": "await (window.showOpenFilePicker ?? (async () => 'absent'))().catch((e) => e.name)",
    "a directory": "await (window.showDirectoryPicker ?? (async () => 'absent'))().catch((e) => e.name)",
    "the fonts of the machine": "await (window.queryLocalFonts ?? (async () => 'absent'))().catch((e) => e.name)",
    "passwords": "String(await navigator.credentials.get({password: true}).catch((e) => e.name))",
    "a payment": "await new PaymentRequest([{supportedMethods: 'https://pay.example'}], {total: {label: 'x', amount: {currency: 'USD', value: '1'}}}).show().catch((e) => e.name)",
    "a protocol": "(() => { try { navigator.registerProtocolHandler('web+x', '/?%s'); return 'absent'; } catch (e) { return e.name; } })()",
    "staying awake": "await navigator.wakeLock?.request('screen').then(() => 'granted', (e) => e.name) ?? 'absent'",
    "an installed app": "await navigator.getInstalledRelatedApps?.().then((a) => a.length ? 'granted' : 'absent') ?? 'absent'",
}
_REFUSALS = (
    "denied", "absent", "null", "NotAllowedError", "NotFoundError", "NotSupportedError", "SecurityError",
    "InvalidStateError", "AbortError", "TypeError", "ReferenceError", "UnknownError", "undefined",
)  # fmt: skip


@pytest.mark.parametrize("name", ABILITIES)
async def test_a_page_gets_nothing_of_the_machine(arena: Arena, name: str) -> None:
    arena.show(
        "<button onclick='ask()'>Ask</button><p id=m></p><script>async function ask() { let said; try { said ="
        f" {ABILITIES[name]} }} catch (e) {{ said = e.name }}"
        " document.getElementById('m').textContent = `asked: ${said}` }</script>"
    )
    guest = arena.guest()
    await guest.open(arena.local)
    await guest.call("click", target="Ask")
    said = await guest.call("read", wait_for="asked:")

    assert not isinstance(said, Refused), said
    answer = said.partition("asked:")[2].strip()  # an empty list: nothing was chosen or shown
    assert not answer or any(word in answer for word in _REFUSALS), said


#: Addresses of other kinds than a website's.
SCHEMES = (
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "FILE:/etc/passwd",
    "chrome://version",
    "chrome://settings",
    "chrome-extension://abc/x",
    "devtools://devtools/bundled/inspector.html",
    "view-source:http://shop.example/",
    "view-source:file:///etc/passwd",
    "data:text/html,<p>zanzibar",
    "blob:http://shop.example/x",
    "filesystem:http://shop.example/temporary/x",
    "javascript:document.title='zanzibar'",
    "about:about",
    "ftp://shop.example/",
    "ws://shop.example/",
    "intent://scan/#Intent;scheme=zxing;end",
    "mailto:zanzibar@mail.example",
    "tel:123",
    "ssh://127.0.0.1",
    "smb://127.0.0.1/x",
    "steam://run/1",
    "jar:file:///x!/y",
    "content://x",
    "unix:/var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "\x00file:///etc/passwd",
)


@pytest.mark.parametrize("url", SCHEMES)
async def test_only_websites_are_opened(arena: Arena, url: str) -> None:
    arena.show(
        f'<p>start</p><a id=a href="{url.replace(chr(0), "")}">link</a><a href=/next>control</a>'
        "<button onclick='location.href = document.getElementById(`a`).href'>move</button>"
        "<button onclick='window.open(document.getElementById(`a`).href)'>open</button>"
        "<iframe id=f></iframe><script>document.getElementById('f').src = document.getElementById('a').href</script>"
    )
    arena.show("<p>next page</p>", "/next")
    guest = arena.guest()
    told = [await guest.open(url), await guest.open()]
    for target in ("link", "move", "open"):
        told.append(await guest.call("click", target=target))
        told.append(await guest.call("tab", tab="t1"))
        told.append(await guest.open())

    assert isinstance(told[0], Refused)
    assert not any(
        mark in text for text in told for mark in ("root:", "Inspector", "<p>start", "Executable Path")
    )
    assert "next page" in await guest.call("click", target="control")


async def test_the_traces_of_a_browser_end_with_the_assistant(tmp_path: Path) -> None:
    """A second assistant knows no cookie of the first, and no profile is left."""
    profiles: list[Path] = []
    for number in (1, 2):
        async with open_arena(tmp_path / str(number)) as arena:
            arena.show(
                _page("const was = document.cookie; document.cookie = 'k=zanzibar; max-age=999'; return was")
            )
            guest = arena.guest()
            said = await guest.open()
            async with arena.browser.visit(guest.info()) as visitor:
                profiles.append(visitor.window.chromium.profile)
            assert profiles[-1].exists()
            assert "done" in said
            assert "zanzibar" not in said
    assert not any(profile.exists() for profile in profiles)
