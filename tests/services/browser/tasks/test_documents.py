"""Tasks that read: languages and charsets, huge tables, and documents that are no pages."""

import struct
import zlib

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def minimal_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\xff\x00\x00" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("text", "start", "name", "send"),
    [
        ("السعر خمسة دنانير", "<html dir=rtl lang=ar>", "الاسم", "أرسل"),
        ("お茶は五百円です", "<html lang=ja>", "名前", "送信"),
        ("Tea ☕ and 👩\u200d🔬 with 🇫🇷", "", "Name 🙂", "📨 Send"),
    ],
    ids=["right to left", "Chinese letters", "emoji"],
)
async def test_pages_of_any_language_are_read_and_answered(
    surfer: Surfer, web: Web, text: str, start: str, name: str, send: str
) -> None:
    form = f"<form method=post action=/s><label>{name} <input name=n></label><button>{send}</button></form>"
    web.pages["/"] = f"{start}<p>{text}</p>{form}"
    told = await surfer.go(web.url())
    # Joiners between emoji show nothing of their own.
    assert text.replace("\u200d", "") in told
    value = f"{text} 数 ق 🙂"
    await surfer.fill(web.site, {name: value})
    await surfer.submit(web.site, send)

    assert [each.form for each in web.posts("/s")] == [{"n": [value]}]


@pytest.mark.parametrize(
    ("charset", "text", "how"),
    [
        ("iso-8859-1", "Grüße aus Köln, déjà vu", "header"),
        ("windows-1251", "Привет, мир", "header"),
        ("shift_jis", "こんにちは世界", "meta"),
        ("utf-16", "Grüße 世界", "mark"),
        ("gb18030", "你好世界", "header"),
    ],
)
async def test_pages_in_other_charsets_are_read(
    surfer: Surfer, web: Web, charset: str, text: str, how: str
) -> None:
    meta = f"<meta charset={charset}>" if how == "meta" else ""
    kind = f"text/html; charset={charset}" if how == "header" else "text/html"
    web.pages["/"] = Answer(f"{meta}<title>T</title><p>{text}</p>".encode(charset), kind=kind)

    assert text in await surfer.go(web.url())


async def test_a_value_goes_back_in_the_charset_of_the_page(surfer: Surfer, web: Web) -> None:
    form = "<form method=post action=/s><label>Name <input name=n></label><button>Go</button></form>"
    web.pages["/"] = Answer(form.encode("latin-1"), kind="text/html; charset=iso-8859-1")
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Jörg"})
    await surfer.submit(web.site, "Go")

    assert [each.body for each in web.posts("/s")] == [b"n=J%F6rg"]


async def test_a_row_of_a_huge_table_is_found_and_used(surfer: Surfer, web: Web) -> None:
    rows = "".join(
        f"<tr><td>{number}<td>Customer {number}<td>{number * 7 % 1000} €<td>"
        f"<a href=/c/{number}>Open {number}</a>"
        for number in range(5_000)
    )
    web.pages["/"] = f"<table><tr><th>Number<th>Name<th>Sum<th>{rows}</table>"
    web.pages["/c/4321"] = "<h1>Customer number 4321</h1>"
    told = await surfer.go(web.url())
    assert len(told) < 13_000

    assert "4321 | Customer 4321 | 247 €" in await surfer.find("Customer 4321")
    assert "# Customer number 4321" in await surfer.click("Open 4321")
    assert len(web.gets("/c/4321")) == 1


async def test_a_long_page_is_read_in_parts(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "".join(f"<p>Paragraph {number} of a long story.</p>" for number in range(1_000))
    first = await surfer.go(web.url())
    assert "Paragraph 0 " in first
    assert "Paragraph 900 " not in first
    assert "from_line=" in first

    assert "Paragraph 900 " in await surfer.read(from_line=880)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("application/json", '{"price": 12, "name": "tea"}', '"name": "tea"'),
        ("text/plain; charset=utf-8", "line one\nline two ü", "line two ü"),
        ("application/xml", "<?xml version='1.0'?><order><item>tea</item></order>", "tea"),
        ("text/csv", "name,price\ntea,4\n", "tea,4"),
        ("text/markdown", "# Title\n\n- tea", "- tea"),
        (
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Hi tea</text></svg>",
            "Hi tea",
        ),
        ("application/rss+xml", "<rss><channel><title>News of tea</title></channel></rss>", "News of tea"),
    ],
)
async def test_documents_that_are_no_pages_are_shown(
    surfer: Surfer, web: Web, kind: str, body: str, expected: str
) -> None:
    web.pages["/file"] = Answer(body, kind=kind)

    assert expected in await surfer.go(web.url("/file"))


async def test_a_picture_is_described_and_saved(surfer: Surfer, web: Web) -> None:
    png = minimal_png(320, 200)
    web.pages["/photo.png"] = Answer(png, kind="image/png")
    told = await surfer.go(web.url("/photo.png"))

    assert "image" in told
    await surfer.download()
    assert surfer.file("photo.png") == png


async def test_pictures_on_a_page_are_named_by_their_texts(surfer: Surfer, web: Web) -> None:
    web.pages["/p.png"] = Answer(minimal_png(100, 100), kind="image/png")
    web.pages["/"] = "<p>Look:</p><img src=/p.png alt='A red square'><a href=/x><img src=/p.png alt=Shop></a>"

    told = await surfer.go(web.url())

    assert "(image: A red square)" in told
    assert "Shop]" in told


async def test_an_empty_page_says_that_there_is_nothing(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = ""
    web.pages["/gone"] = Answer(status=204)

    assert "(nothing to read on this page)" in await surfer.go(web.url())
    with pytest.raises(ToolError, match="sent nothing to show"):
        await surfer.go(web.url("/gone"))
