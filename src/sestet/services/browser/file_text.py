"""The text of documents that Chromium does not show: PDFs, and files that are text."""

from io import BytesIO

from sestet.services.browser.reading import MOST_CHARACTERS
from sestet.services.browser.wire import without_unseen
from sestet.services.documents.blocks import BrokenFileError
from sestet.services.documents.sandbox import SandboxedReader

_PDF = b"%PDF-"
#: A file of a page may hold text that a page would hide.
_HTML = (b"<!doctype", b"<html", b"<?xml", b"<svg")


def text_of_file(content: bytes) -> str:
    """The text of a file, of a PDF at least its first part; '' if it is no text. Blocking."""
    if content.startswith(_PDF):
        return without_unseen(pdf_text(content))
    if b"\0" in content or content.lstrip().lower().startswith(_HTML):
        return ""
    try:
        return without_unseen(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return without_unseen(content.decode("cp1252", "replace"))


def first_part(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n(more; browser_download saves all of it)"


def pdf_text(content: bytes) -> str:
    """The text of a PDF, or a word on why there is none. Blocking."""
    reader = SandboxedReader()
    text = ""
    try:
        for block in reader.read("pdf", BytesIO(content), len(content)):
            text += f"{block.text}\n\n"
            if len(text) > MOST_CHARACTERS:
                return first_part(text)
    except BrokenFileError as error:
        return f"(the PDF cannot be read: {error})"
    finally:
        reader.close()
    return text.strip() or "(the PDF holds no text, perhaps pictures of pages)"
