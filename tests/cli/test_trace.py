"""``sestet trace``: the model calls of a turn, and what a model was shown."""

import json

import pytest

from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def talked(call: Call) -> None:
    call("ask", "--session", "s1", "list the files here")


def test_the_calls_of_the_last_turn_are_listed(call: Call) -> None:
    done = call("trace")
    listed = json.loads(call("trace", "--json").out)

    assert done.code == 0
    assert len(done.out.splitlines()) == len(listed["calls"]) > 1
    assert "calls fs_list" in done.out
    assert call("trace", listed["turn"]).out == done.out


def test_what_a_model_was_shown_is_printed_word_for_word_with_what_it_was_not_shown(call: Call) -> None:
    calls = json.loads(call("trace", "--json").out)["calls"]
    last = str(calls[-1]["seq"])
    done = call("trace", "last", "--saw", last)
    shown = json.loads(call("trace", "--saw", last, "--json").out)

    assert done.out.startswith("About ")
    assert "instruction" in done.out.splitlines()[0]
    for section in shown["sections"]:
        assert section["text"].partition("\n")[0] in done.out
    assert shown["call"] == calls[-1]


def test_a_wrong_turn_and_a_wrong_call_are_errors(call: Call) -> None:
    assert "there is no turn 'x'" in call("trace", "x").err
    assert "has no model call 99" in call("trace", "--saw", "99").err


def test_without_any_turn_the_way_to_one_is_told(call: Call) -> None:
    call("sessions", "delete", "s1", "--yes")

    assert call("trace").err == "sestet: there is no turn yet; 'sestet chat' begins one\n"
