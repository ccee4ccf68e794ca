"""The weights belong to the bank that ships, and are small."""

from pathlib import Path

import sestet
from scripts.router_figures import PAGE, weights_name
from sestet.models.router.bank import Example, hash_bank, read_bank
from sestet.models.router.weights import (
    FILE,
    Weights,
    pack_bank,
    pack_lines,
    pack_numbers,
    read_weights,
    write_weights,
)

ROOMS = Path(sestet.__file__).parent / "agents"


def test_the_weights_were_learned_from_the_bank_as_it_is() -> None:
    learned_from = read_weights().header["bank"]
    assert learned_from == hash_bank(read_bank(ROOMS)), (
        "the requests in the rooms have changed: run `make router`"
    )


def test_the_figures_on_the_page_are_those_of_the_weights() -> None:
    assert f"`{weights_name()}`" in PAGE.read_text(encoding="utf-8"), (
        "the weights have changed: run `make router`"
    )


def test_the_weights_are_under_two_megabytes() -> None:
    assert FILE.stat().st_size < 2_000_000


def test_every_room_and_direct_answers_have_a_bank() -> None:
    bank = read_bank(ROOMS)
    for agent in read_weights().header["agents"]:
        assert sum(example.agent == agent for example in bank) >= 60, agent


def test_a_heading_is_no_request(tmp_path: Path) -> None:
    (tmp_path / "clerk").mkdir()
    (tmp_path / "clerk/requests.txt").write_text("# letters\n\n  answer the letter \n", encoding="utf-8")
    assert read_bank(tmp_path) == (Example("answer the letter", "clerk", "letters"),)


def test_what_is_written_is_read_back_and_twice_the_same(tmp_path: Path) -> None:
    bank = (Example("read a.txt", "operator"), Example("grüß dich", "direct"))
    tables = {
        "rarity": pack_numbers([0.5, -2.0], "f"),
        "words": pack_lines(["a", "b"]),
        "bank": pack_bank(bank),
    }
    weights = Weights({"bank": hash_bank(bank), "agents": ["direct", "operator"], "variants": {}}, tables)
    write_weights(weights, tmp_path / "one")
    write_weights(weights, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    read = read_weights(tmp_path / "one")
    assert read.header == weights.header
    assert list(read.numbers("rarity", "f")) == [0.5, -2.0]
    assert read.lines("words") == ["a", "b"]
    assert read.bank() == bank
