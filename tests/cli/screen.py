"""A terminal as far as tests need one: the screen after all of the output."""

import re

_TOKEN = re.compile(r"\x1b\[(?P<numbers>[\d;?]*)(?P<letter>[A-Za-z])|(?P<text>[^\x1b\r\n]+)|(?P<end>[\r\n])")


def read_screen(output: str, height: int = 10_000) -> list[str]:
    """The lines that are left, without their trailing blanks and without blank lines at the end.

    ``height``: a line that has left the screen at the top cannot be changed any more.
    """
    lines, row, column = [""], 0, 0
    for token in _TOKEN.finditer(output):
        if token["end"] == "\r":
            column = 0
        elif token["end"] == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif token["text"]:
            line, text = lines[row].ljust(column), token["text"]
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
        elif token["letter"] == "A":
            row = max(row - int(token["numbers"] or 1), len(lines) - height, 0)
        elif token["letter"] == "K":
            assert token["numbers"] == "2", "only whole lines are expected to be erased"
            lines[row] = ""
        else:
            assert token["letter"] in "mhl", f"an unexpected control sequence: {token[0]!r}"
    return "\n".join(line.rstrip() for line in lines).rstrip("\n").split("\n")
