"""Reads the text of a PDF, page by page."""

from collections.abc import Iterator
from typing import BinaryIO

from sestet.services.documents.blocks import LONGEST, Block, BrokenFileError


def read_pdf(stream: BinaryIO) -> Iterator[Block]:
    """One block a page; pages without text, such as pictures of text, give none."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            raise BrokenFileError("it is locked with a password")
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text().encode("utf-8", "replace").decode()
            for start in range(0, len(text), LONGEST):
                yield Block(text[start : start + LONGEST].strip(), number)
    except BrokenFileError:
        raise
    except MemoryError:
        raise BrokenFileError("it takes too much memory to read") from None
    except RecursionError:
        raise BrokenFileError("it is nested too deeply") from None
    except PyPdfError as error:
        raise BrokenFileError(f"it is damaged: {error}") from error
    except Exception as error:  # a damaged file makes the parser stumble anywhere
        raise BrokenFileError(f"it is damaged: {type(error).__name__}: {error}") from error
