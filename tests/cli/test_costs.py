"""``sestet costs``: tables and JSON of what the models have used."""

import json
import time

import pytest

from sestet.core.clean import clean
from sestet.core.model import Usage
from sestet.core.words import day
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.spending import SpendingStore
from tests.cli.conftest import Call
from tests.cli.program import Home

NOW = time.time()
PROVIDERS = "providers: {acme: {baseUrl: 'http://127.0.0.1:9/v1'}}\nlimits: {dollarsPerDay: 2}\n"


@pytest.fixture(autouse=True)
def spent(home: Home) -> None:
    """Calls of today and of forty days ago, in the background, since those need no conversation."""
    database = Database(home.data / FILE_NAME)
    spending = SpendingStore(database)
    spending.add_work("observe", "acme/big", Usage(1_000, 100, 500_000_000, 400), NOW)
    spending.add_work("extract", "acme/new", Usage(12_000, 400), NOW)
    spending.add_work("observe", "acme/big", Usage(10, 1, 250_000_000), NOW - 40 * 86_400)
    database.close()
    (home.work / "sestet.yaml").write_text(PROVIDERS)


def test_the_days_are_listed_with_the_total_and_the_share_of_the_limit(call: Call) -> None:
    done = call("costs")

    assert (done.code, done.err) == (0, "")
    assert "today $0.50 + ? of $2.00" in done.out
    assert f"{day(NOW)}  $0.5000 + ?" in done.out
    assert day(NOW - 40 * 86_400) not in done.out
    assert "13,000" in done.out


def test_an_unknown_price_is_named_with_the_way_out_and_not_counted_as_nothing(call: Call) -> None:
    out = call("costs", "--by", "model").out

    (line,) = (line for line in out.splitlines() if line.startswith("acme/new"))
    assert line.split()[1] == "?"
    assert "price unknown: 12,400 tokens of acme/new" in out
    assert "providers.acme.prices: {new: {input: …, output: …}}" in out


def test_a_narrow_terminal_cuts_names_and_no_number(home: Home) -> None:
    database = Database(home.data / FILE_NAME)
    model = "acme/" + "very-long-name-" * 5
    SpendingStore(database).add_work("embed", model, Usage(1_234_567, 234_567, 10**9, 4), NOW)
    database.close()

    for grouping in ("model", "session"):
        with home.terminal("costs", "--by", grouping, extra={"COLUMNS": "80"}) as terminal:
            terminal.wait()
        shown = clean(terminal.raw)
        assert "1,247,567  235,067     404" in shown  # the total
    assert max(map(len, shown.splitlines())) <= 80


def test_json_has_every_number(call: Call) -> None:
    report = json.loads(call("costs", "--by", "agent", "--limit", "1", "--json").out)

    assert {row["name"]: row["dollars"] for row in report["rows"]} == {
        "observing": 0.5,
        "reading for facts": 0.0,
    }
    assert {row["kind"] for row in report["rows"]} == {"background"}
    assert report["total"]["cached_tokens"] == 400
    assert report["background"] == report["total"]
    assert report["price_unknown"] == [{"model": "acme/new", "tokens": 12_400}]
    assert (report["today"]["nano_dollars"], report["today"]["limit_dollars"]) == (500_000_000, 2)


def test_the_time_can_be_chosen(call: Call) -> None:
    old = day(NOW - 40 * 86_400)

    def dollars(*arguments: str) -> float:
        return json.loads(call("costs", *arguments, "--json").out)["total"]["dollars"]

    assert dollars() == 0.5
    assert dollars("--days", "60") == 0.75
    assert dollars("--by", "month") == 0.75
    assert dollars("--until", old) == 0.25
    assert dollars("--since", old) == 0.75
    assert dollars("--since", old, "--until", old) == 0.25


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "soon"), "'soon' is no date"),
        (("--days", "3", "--since", "2026-01-01"), "not both"),
        (("--since", "2026-02-01", "--until", "2026-01-01"), "is after"),
    ],
)
def test_a_time_that_cannot_be_is_a_mistake_of_the_command_line(
    call: Call, arguments: tuple[str, ...], said: str
) -> None:
    done = call("costs", *arguments)

    assert done.code == 2
    assert said in done.err


def test_without_any_spending_it_says_so(call: Call, home: Home) -> None:
    (home.data / FILE_NAME).unlink()

    done = call("costs")

    assert (done.code, done.out) == (0, "")
    assert "the built-in model is free" in done.err


def test_a_turn_says_when_the_day_is_nearly_used_up(call: Call, home: Home) -> None:
    database = Database(home.data / FILE_NAME)
    SpendingStore(database).add_work("observe", "acme/big", Usage(1, 1, 1_200_000_000), NOW)
    database.close()

    done = call("ask", "hello")

    assert done.code == 0, "the built-in model costs nothing, so it still answers"
    assert done.err.count("$1.70 of the $2.00 for today are spent (limits.dollarsPerDay)") == 1
