"""Tasks with files: uploads, downloads of every kind, pictures and PDFs of pages."""

import zlib
from hashlib import sha256

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

CONTENT = bytes(range(256)) * 40
BINARY = "application/octet-stream"


def minimal_pdf(text: str) -> bytes:
    """A PDF of one page with one line."""
    drawn = zlib.compress(f"BT /F1 18 Tf 40 700 Td ({text}) Tj ET".encode())
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    made, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj%s endobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\n" % (size, table, size)
    return bytes(made) + tail + b"startxref\n%d\n%%%%EOF" % len(made)


async def test_a_file_of_the_workspace_is_uploaded(surfer: Surfer, web: Web) -> None:
    (surfer.work / "photo.bin").write_bytes(CONTENT)
    web.pages["/"] = """<form method=post action=/up enctype=multipart/form-data>
        <label>Photo <input type=file name=photo></label><label>Title <input name=title></label>
        <button>Upload</button></form>"""
    await surfer.go(web.url())

    assert "= photo.bin" in await surfer.upload(web.site, "Photo", "photo.bin")
    assert web.posts() == []
    await surfer.fill(web.site, {"Title": "Summer"})
    await surfer.submit(web.site, "Upload")

    (post,) = web.posts("/up")
    assert post.form == {"photo": ["photo.bin"], "title": ["Summer"]}
    assert sha256(post.files["photo"]).digest() == sha256(CONTENT).digest()


async def test_a_hidden_file_field_behind_its_label_takes_a_file(surfer: Surfer, web: Web) -> None:
    (surfer.work / "letter.txt").write_text("Dear Ada")
    web.pages[
        "/"
    ] = """<label for=f style="padding: 9px; background: navy; color: white">Attach a letter</label>
        <input type=file id=f style="display: none"><p id=p></p><script>f.onchange = async () => {
            p.textContent = 'Got ' + f.files[0].name;
            fetch('/attached', { method: 'POST', body: await f.files[0].text() });
        }</script>"""
    await surfer.go(web.url())

    assert "Got letter.txt" in await surfer.upload(web.site, "Attach a letter", "letter.txt")
    assert [each.body for each in web.posts("/attached")] == [b"Dear Ada"]


@pytest.mark.parametrize(
    ("target", "page", "answer", "name"),
    [
        ("Get", "<a href=/f>Get</a>", Answer(CONTENT, kind=BINARY), "f"),
        (
            "Get",
            "<a href=/f>Get</a>",
            Answer(
                CONTENT, kind="text/plain", headers={"Content-Disposition": 'attachment; filename="a b.txt"'}
            ),
            "a b.txt",
        ),
        ("Get", "<a href=/f download=named.csv>Get</a>", Answer(CONTENT, kind="text/csv"), "named.csv"),
        ("Get", "<a href=/f>Get</a>", Answer(minimal_pdf("x"), kind="application/pdf"), "f.pdf"),
        ("Get", "<a href=/f.html>Get</a>", Answer("<h1>Page</h1>"), "f.html"),
        (
            "Get",
            "<a href=/f><img src=/f alt=Get width=40 height=40></a>",
            Answer(CONTENT, kind="image/gif"),
            "f.gif",
        ),
        (
            "Get",
            "<button onclick=\"location = '/f'\">Get</button>",
            Answer(
                CONTENT,
                kind=BINARY,
                headers={"Content-Disposition": "attachment; filename*=UTF-8''%C3%BC.bin"},
            ),
            "ü.bin",
        ),
    ],
    ids=["binary", "attachment", "download attribute", "pdf", "page", "picture", "button"],
)
async def test_a_file_behind_a_control_is_saved_with_its_bytes(
    surfer: Surfer, web: Web, target: str, page: str, answer: Answer, name: str
) -> None:
    web.pages |= {"/": f"<h1>Files</h1>{page}", "/f": answer, "/f.html": answer}
    await surfer.go(web.url())

    told = await surfer.download(target)

    content = answer.body.encode() if isinstance(answer.body, str) else answer.body
    assert f"downloads/{name}" in told
    assert surfer.file(name) == content
    assert (surfer.work / "downloads" / name).stat().st_mode & 0o111 == 0


@pytest.mark.parametrize(
    "script",
    [
        "a.href = URL.createObjectURL(new Blob(['made here'])); a.download = 'made.txt'",
        "a.href = 'data:text/plain,made%20here'; a.download = 'made.txt'",
    ],
    ids=["blob", "data"],
)
async def test_a_file_that_the_page_makes_is_saved(surfer: Surfer, web: Web, script: str) -> None:
    web.pages["/"] = f"""<a id=a href=#>Export</a><script>{script}</script>"""
    await surfer.go(web.url())
    await surfer.download("Export")

    assert surfer.file("made.txt") == b"made here"


async def test_a_button_that_makes_a_file_on_a_click_saves_it(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<button onclick="setTimeout(() => {
        const link = document.createElement('a');
        link.href = window.URL.createObjectURL(new Blob(['a,b\\n1,2'], { type: 'text/csv' }));
        link.download = 'table.csv';
        link.click();
    }, 300)">Export</button>"""
    await surfer.go(web.url())
    await surfer.download("Export")

    assert surfer.file("table.csv") == b"a,b\n1,2"


async def test_a_control_that_gives_no_file_says_so(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<button>Nothing</button>"
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="gave no file"):
        await surfer.download("Nothing")
    assert not (surfer.work / "downloads").exists()


async def test_a_download_that_breaks_off_is_not_saved(surfer: Surfer, web: Web) -> None:
    web.pages |= {"/": "<a href=/f>Get</a>", "/f": Answer(CONTENT, kind=BINARY, breaks=True)}
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="broke the download off; nothing was saved"):
        await surfer.download("Get")
    assert not (surfer.work / "downloads").exists()


async def test_two_downloads_of_one_name_are_both_kept(surfer: Surfer, web: Web) -> None:
    web.pages |= {"/": "<a href=/f.bin>Get</a>", "/f.bin": Answer(b"one", kind=BINARY)}
    await surfer.go(web.url())
    await surfer.download("Get")
    web.pages["/f.bin"] = Answer(b"two", kind=BINARY)
    await surfer.download("Get")

    kept = {path.read_bytes() for path in (surfer.work / "downloads").iterdir()}
    assert kept == {b"one", b"two"}


async def test_the_text_of_a_pdf_is_read_and_the_pdf_saved(surfer: Surfer, web: Web) -> None:
    pdf = minimal_pdf("The rent is 700 euro")
    web.pages["/lease.pdf"] = Answer(pdf, kind="application/pdf")
    told = await surfer.go(web.url("/lease.pdf"))

    assert "The rent is 700 euro" in told
    assert "application/pdf" in told
    await surfer.download()
    assert surfer.file("lease.pdf") == pdf


@pytest.mark.parametrize("target", ["_self", "_blank"])
async def test_a_pdf_behind_a_link_is_read(surfer: Surfer, web: Web, target: str) -> None:
    web.pages |= {"/": f"<h1>Papers</h1><a href=/a.pdf target={target}>The lease</a>"}
    web.pages["/a.pdf"] = Answer(minimal_pdf("Signed by Ada"), kind="application/pdf", late=0.7)
    await surfer.go(web.url())

    assert "Signed by Ada" in await surfer.click("The lease")
    await surfer.download()
    assert surfer.file("a.pdf") == minimal_pdf("Signed by Ada")


async def test_a_form_that_answers_with_a_pdf_shows_its_text(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<form method=post action=/bill><button>Bill</button></form>"
    web.pages["/bill"] = Answer(minimal_pdf("You owe 5 euro"), kind="application/pdf")
    await surfer.go(web.url())

    assert "You owe 5 euro" in await surfer.submit(web.site, "Bill")
    assert len(web.posts("/bill")) == 1


async def test_a_file_that_is_opened_is_described_and_saved(surfer: Surfer, web: Web) -> None:
    web.pages["/data.zip"] = Answer(CONTENT, kind="application/zip")
    told = await surfer.go(web.url("/data.zip"))

    assert "application/zip, 10,240 bytes" in told
    await surfer.download()
    assert surfer.file("data.zip") == CONTENT


async def test_a_page_becomes_a_pdf_with_its_text(surfer: Surfer, web: Web) -> None:
    web.pages["/report"] = "<h1>Annual report</h1><p>Everything went well."
    await surfer.go(web.url("/report"))
    told = await surfer.pdf()
    name = told.partition("downloads/")[2].split()[0].rstrip(".,'")

    web.pages["/again.pdf"] = Answer(surfer.file(name), kind="application/pdf")
    assert "Annual report" in await surfer.go(web.url("/again.pdf"))


async def test_a_picture_of_the_window_and_of_the_whole_page_are_made(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<div style='height: 3000px; background: linear-gradient(red, blue)'>Tall</div>"
    await surfer.go(web.url())
    heights: list[int] = []
    for full in (False, True):
        before = set((surfer.work / "downloads").glob("*.png"))
        await surfer.screenshot(full=full)
        (made,) = set((surfer.work / "downloads").glob("*.png")) - before
        content = made.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        heights.append(int.from_bytes(content[20:24]))

    assert heights[0] < 1000
    assert heights[1] >= 3000


PAPERS = """<a href=/files/report-2025.txt download>Annual report 2025</a>
    <a href=/files/prices.csv>Price list</a> <a href=/files/old.csv>Price list of last year</a>
    <button>Report a problem</button>"""


@pytest.mark.parametrize(
    ("target", "name"),
    [("the annual report", "report-2025.txt"), ("prices.csv", "prices.csv"), ("Price list", "prices.csv")],
)
async def test_a_download_is_found_by_words_of_its_link_or_by_its_file_name(
    surfer: Surfer, web: Web, target: str, name: str
) -> None:
    web.pages["/"] = PAPERS
    web.pages[f"/files/{name}"] = Answer(b"content", kind="text/plain")
    await surfer.go(web.url())

    await surfer.download(target)

    assert surfer.file(name) == b"content"


async def test_words_of_several_links_download_none_of_them(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = PAPERS.replace("Price list<", "Price list of today<")
    await surfer.go(web.url())

    with pytest.raises(
        ToolError, match=r"2 times: \[e2 Price list of today\], \[e3 Price list of last year\]"
    ):
        await surfer.download("price list")

    assert not (surfer.work / "downloads").exists()


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"Members: 84\n\xe2\x80\x8b", "Its text:\nMembers: 84"),
        ("Gemüse".encode("cp1252"), "Its text:\nGemüse"),
        (minimal_pdf("Members: 84"), "Its text:\nMembers: 84"),
        (CONTENT, "(It is no text that can be shown.)"),
        (b"<!doctype html><p hidden>Members: 84", "(It is no text that can be shown.)"),
    ],
    ids=["text", "old encoding", "pdf", "binary", "page"],
)
async def test_the_text_of_a_download_is_shown_if_it_was_asked_for(
    surfer: Surfer, web: Web, content: bytes, shown: str
) -> None:
    web.pages["/"] = "<a href=/paper download>Paper</a>"
    web.pages["/paper"] = Answer(content, kind=BINARY)
    await surfer.go(web.url())

    told = await surfer.download("Paper", read=True)

    assert told.partition("/paper\n")[2] == shown
    assert "Only the first" not in told
    assert "text" not in await surfer.download("Paper")


async def test_a_long_text_of_a_download_is_shown_in_part_and_saved_whole(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<a href=/long.txt download>Long</a>"
    web.pages["/long.txt"] = Answer(b"word " * 10_000, kind="text/plain")
    await surfer.go(web.url())

    told = await surfer.download("Long", read=True)

    assert "Only the first 8,000 characters of its text were read." in told
    assert 8_000 < len(told) < 8_300
    assert surfer.file("long.txt") == b"word " * 10_000
