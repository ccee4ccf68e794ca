"""HTML and PDF are read in a child process: no file makes the parent hang, grow or crash."""

import io
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from sestet.services.documents.blocks import Block, BrokenFileError, DocumentKind
from sestet.services.documents.sandbox import SandboxedReader

from .papers import bomb, pdf


def read(data: bytes, kind: DocumentKind = "pdf", reader: SandboxedReader | None = None) -> list[Block]:
    reader = reader or SandboxedReader()
    try:
        return list(reader.read(kind, io.BytesIO(data), len(data)))
    finally:
        reader.close()


@pytest.mark.parametrize("packed", [False, True])
def test_a_pdf_is_read_page_by_page(packed: bool) -> None:
    blocks = read(pdf(["Tea costs two.\nCoffee (black) three.", "", "The end."], packed=packed))

    assert [(block.text, block.place) for block in blocks] == [
        ("Tea costs two.\nCoffee (black) three.", 1),
        ("The end.", 3),
    ]


def test_one_process_reads_many_files_and_survives_the_broken_ones() -> None:
    reader = SandboxedReader()
    try:
        for _ in range(2):
            with pytest.raises(BrokenFileError, match="it is damaged"):
                list(reader.read("pdf", io.BytesIO(b"%PDF-1.4 nothing"), 16))
            page = b"<h1>Tea</h1>"
            assert [b.text for b in reader.read("html", io.BytesIO(page), len(page))] == ["Tea"]
    finally:
        reader.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the environment is read from /proc")
def test_the_process_that_reads_a_strangers_file_has_no_keys_in_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    before = _children()
    reader = SandboxedReader()
    try:
        assert list(reader.read("html", io.BytesIO(b"Tea"), 3))
        (child,) = _children() - before
        environment = Path(f"/proc/{child}/environ").read_bytes()
    finally:
        reader.close()
    assert b"PYTHONPATH=/nowhere" in environment
    assert b"sk-hidden" not in environment


def _children() -> set[str]:
    """The ids of this process's children."""
    mine: set[str] = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # After the name in brackets come the state and the parent's id.
            if file.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                mine.add(file.parent.name)
    return mine


def test_a_pdf_with_damage_anywhere_is_read_or_named_as_broken() -> None:
    whole = pdf(["Tea costs two.", "Coffee three."], packed=True)
    dice = random.Random(4)
    reader = SandboxedReader(silence=20)
    outcomes: set[str] = set()
    try:
        for round_ in range(60):
            data = bytearray(whole)
            if round_ % 3 == 0:
                del data[dice.randrange(len(data)) :]
            else:
                for _ in range(dice.randrange(1, 30)):
                    data[dice.randrange(len(data))] = dice.randrange(256)
            try:
                list(reader.read("pdf", io.BytesIO(data), len(data)))
                outcomes.add("read")
            except BrokenFileError:
                outcomes.add("broken")
    finally:
        reader.close()
    assert outcomes == {"read", "broken"}


def test_a_page_that_keeps_the_parser_busy_for_ever_is_given_up() -> None:
    with pytest.raises(BrokenFileError, match=r"it takes longer than 0\.5 seconds to read"):
        read(b"<a x='" * 100_000, "html", SandboxedReader(silence=0.5))


def test_the_time_for_a_whole_file_is_limited_too() -> None:
    pages = pdf([f"Page {number}" for number in range(2_000)])
    with pytest.raises(BrokenFileError, match=r"it takes longer than 0\.2 seconds to read"):
        read(pages, "pdf", SandboxedReader(seconds=0.2))


@pytest.mark.slow
def test_a_file_that_unpacks_to_more_than_there_is_room_for_takes_no_more_than_its_room() -> None:
    data = bomb(400_000_000)
    reader = SandboxedReader(silence=15, memory=400_000_000)
    try:
        with suppress(BrokenFileError):
            list(reader.read("pdf", io.BytesIO(data), len(data)))
        assert [
            block.text for block in reader.read("pdf", io.BytesIO(pdf(["Tea."])), len(pdf(["Tea."])))
        ] == ["Tea."]
    finally:
        reader.close()


def test_what_no_parser_expects_is_an_error_for_the_person() -> None:
    for data in (b"", b"%PDF-", b"%PDF-1.7\n" + bytes(range(256)) * 50):
        with pytest.raises(BrokenFileError, match=r"^it is damaged"):
            read(data)


def test_a_file_in_the_working_directory_is_not_taken_for_a_module(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path_factory.mktemp("trap")
    for name in ("pypdf.py", "json.py", "sestet.py"):
        (trap / name).write_text("import os; os._exit(7)\n", encoding="utf-8")
    monkeypatch.chdir(trap)

    assert [block.text for block in read(pdf(["Tea."]))] == ["Tea."]
