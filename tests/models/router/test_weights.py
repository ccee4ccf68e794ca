"""The file of the weights: small, and read back as it was written."""

from pathlib import Path

from sestet.models.router import Example
from sestet.models.router.weights import (
    FILE,
    Weights,
    pack_bank,
    pack_lines,
    pack_numbers,
    read_weights,
    write_weights,
)


def test_the_weights_are_under_two_megabytes() -> None:
    assert FILE.stat().st_size < 2_000_000


def test_what_is_written_is_read_back_and_twice_the_same(tmp_path: Path) -> None:
    bank = (Example("read a.txt", "operator"), Example("grüß dich", "direct"))
    tables = {
        "rarity": pack_numbers([0.5, -2.0], "f"),
        "words": pack_lines(["a", "b"]),
        "bank": pack_bank(bank),
    }
    weights = Weights({"bank": "a hash", "agents": ["direct", "operator"], "variants": {}}, tables)
    write_weights(weights, tmp_path / "one")
    write_weights(weights, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    read = read_weights(tmp_path / "one")
    assert read.header == weights.header
    assert list(read.numbers("rarity", "f")) == [0.5, -2.0]
    assert read.lines("words") == ["a", "b"]
    assert read.bank() == bank
