"""A file from a page gets a plain name, one place and a limit, and comes only when it was asked for."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501, PT018

import asyncio
import os
from pathlib import Path

import pytest

from sestet.services.browser.downloads import safe_name
from tests.services.browser.attacks.arena import Arena, Refused, open_arena
from tests.services.browser.attacks.internet import Answer, Seen, Stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

#: Names that a server suggests.
NAMES = (
    "../../escape.txt",
    "..\\..\\escape.txt",
    "/etc/cron.d/escape",
    "%2e%2e%2fescape.txt",
    ".bashrc",
    "..",
    "-rf",
    "--checkpoint-action=exec=sh",
    "start.desktop",
    "setup.EXE",
    "setup.exe.",
    "script.sh ",
    "photo\u202egpj.exe",
    "CON",
    "nul.txt",
    "a" * 300 + ".exe",
    "字" * 200 + ".pdf",
    "😀" * 100,
    "x." + "y" * 400,
    "line\nbreak.txt",
    "semi;colon$(id).txt",
    "",
)
_RUNS = (".exe", ".sh", ".desktop", ".bat", ".js", ".py")


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_a_name_stays_a_plain_name(arena: Arena, name: str) -> None:
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    arena.shop.pages["/file"] = Answer(
        b"content of it",
        "application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{encoded}"},
    )
    arena.show("<a href=/file>File</a>")
    guest = arena.guest()
    await guest.open()
    before = set(arena.work.rglob("*"))
    told = await guest.call("download", target="File")
    made = [path for path in set(arena.work.rglob("*")) - before if path.is_file()]

    assert len(made) == 1, told
    (path,) = made
    assert path.parent == arena.work / "downloads"
    assert path.read_bytes() == b"content of it"
    assert not os.access(path, os.X_OK)
    assert not path.name.startswith((".", "-"))
    assert not path.name.casefold().endswith(_RUNS)
    assert len(path.name.encode()) <= 200
    assert path.name.isprintable()
    assert path.stem.casefold() not in ("con", "nul")


async def test_an_ending_that_runs_does_not_come_back_when_a_long_name_is_cut() -> None:
    for length in range(60, 300):
        assert not safe_name("a" * length + ".exe").endswith(".exe")


async def test_a_page_saves_nothing_by_itself(arena: Arena) -> None:
    arena.shop.pages["/file"] = Answer(b"bomb", "application/octet-stream")
    arena.show(
        "<a id=a href=/file download=x.bin>File</a><iframe src=/file></iframe><p id=m></p><script>"
        "for (let i = 0; i < 30; i++) document.getElementById('a').click();"
        "const b = URL.createObjectURL(new Blob(['bomb'])); const l = document.createElement('a');"
        "l.href = b; l.download = 'blob.bin'; document.body.append(l); l.click();"
        "document.getElementById('m').textContent = 'tried'</script>"
    )
    guest = arena.guest()
    before = set(arena.work.rglob("*"))
    await guest.open()
    assert "tried" in await guest.call("read")
    await asyncio.sleep(0.5)
    assert set(arena.work.rglob("*")) == before

    await guest.call("download", target="File")
    assert [path.read_bytes() for path in set(arena.work.rglob("*")) - before if path.is_file()] == [b"bomb"]


async def test_one_call_saves_one_file(arena: Arena) -> None:
    for number in range(9):
        arena.shop.pages[f"/{number}"] = Answer(b"bomb %d" % number, "application/octet-stream")
    arena.show(
        "<a href=/0 onclick=\"for (let i = 1; i < 9; i++) { const a = document.createElement('a'); a.href = `/${i}`;"
        " a.download = ''; document.body.append(a); a.click(); }\">File</a>"
    )
    guest = arena.guest()
    await guest.open()
    before = set(arena.work.rglob("*"))
    await guest.call("download", target="File")
    assert len([path for path in set(arena.work.rglob("*")) - before if path.is_file()]) == 1


async def _endless(_: Seen, stream: Stream) -> None:
    stream.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n")
    while True:
        stream.write(b"x" * 500_000)
        await stream.drain()


async def test_a_file_without_end_is_not_saved(tmp_path: Path) -> None:
    async with open_arena(tmp_path, downloadMb=2) as arena:
        arena.shop.pages["/endless"] = _endless
        arena.shop.pages["/large"] = Answer(b"x" * 3_000_000, "application/octet-stream")
        arena.shop.pages["/small"] = Answer(b"x" * 1_000_000, "application/octet-stream")
        arena.show("<a href=/endless>Endless</a> <a href=/large>Large</a> <a href=/small>Small</a>")
        guest = arena.guest()
        await guest.open()
        for target in ("Endless", "Large"):
            said = await guest.call("download", target=target)
            assert isinstance(said, Refused) and "2 MB" in said, said
        assert not [path for path in arena.work.rglob("*") if path.is_file()]
        await guest.call("download", target="Small")
        assert [path.stat().st_size for path in arena.work.rglob("*") if path.is_file()] == [1_000_000]


async def test_a_page_that_takes_all_memory_is_ended(tmp_path: Path) -> None:
    async with open_arena(tmp_path, memoryMb=500) as arena:
        arena.show(
            "<p>hungry</p><script>const all = []; setInterval(() => {"
            " all.push(new Uint8Array(20000000).fill(7)) }, 60)</script>"
        )
        arena.show("<p>modest</p>", "/modest")
        guest = arena.guest()
        await guest.open()
        said = ""
        for _ in range(60):
            said = await guest.call("read")
            if "browser.memoryMb" in said:
                break
            await asyncio.sleep(0.5)
        assert "more than 500 MB" in said
        assert "modest" in await guest.open("http://shop.example/modest")
