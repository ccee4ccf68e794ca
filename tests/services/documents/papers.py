"""Small files of every kind, made by hand."""

import zlib
from collections.abc import Sequence


def pdf(pages: Sequence[str], *, packed: bool = False) -> bytes:
    """A PDF with one line of text for each line of a page."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",  # replaced by the pages below
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids: list[int] = []
    for page in pages:
        lines = " T* ".join(f"({_escaped(line)}) Tj" for line in page.split("\n"))
        content = f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode("latin-1")
        filter_ = b""
        if packed:
            content, filter_ = zlib.compress(content), b" /Filter /FlateDecode"
        objects.append(b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), filter_, content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(len(objects))
    references = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (references, len(kids))
    return _file(objects)


def bomb(size: int) -> bytes:
    """A PDF whose only page unpacks to ``size`` bytes."""
    content = zlib.compress(b"(x) Tj " * (size // 7), 9)
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R >>",
        ]
    )


def _file(objects: Sequence[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return out


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def words(number: int, word: str = "word") -> str:
    """``number`` words in sentences of ten."""
    sentences = (" ".join([word] * min(10, number - start)) + "." for start in range(0, number, 10))
    return " ".join(sentences)
