"""The child process of ``sandbox``: reads HTML and PDF from its parent and opens no file itself."""

import io
import json
import logging
import resource
import sys
from collections.abc import Iterator
from typing import BinaryIO

from sestet.services.documents.blocks import Block, BrokenFileError
from sestet.services.documents.readers import read_html, read_pdf
from sestet.services.text_encoding import guess_encoding

_PIECE = 65_536


def _blocks(kind: str, content: BinaryIO) -> Iterator[Block]:
    if kind == "pdf":
        return read_pdf(content)
    text = io.TextIOWrapper(content, encoding=guess_encoding(content), errors="replace")
    return read_html(iter(lambda: text.read(_PIECE), ""))


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    while header := requests.readline():
        kind, size = header.split()
        last: list[object] = ["end"]
        try:
            content = io.BytesIO(requests.read(int(size)))
            for block in _blocks(kind.decode(), content):
                _write(answers, ["block", *block])
        except BrokenFileError as error:
            last = ["broken", str(error)[:300]]
        except (MemoryError, RecursionError) as error:
            last = ["broken", f"it takes too much to read: {type(error).__name__}"]
        _write(answers, last)


def _write(answers: BinaryIO, answer: list[object]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def main() -> None:
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # It cannot write files.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    logging.disable()
    _serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
