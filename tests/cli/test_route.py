"""``sestet route`` explains, and does nothing."""

import json

from sestet.models.router import DIRECT
from tests.cli.conftest import Call
from tests.cli.program import Home


def test_the_owner_its_evidence_and_the_nearest_examples_are_shown(call: Call) -> None:
    done = call("route", "--light", "send 15 usdc to alice")
    assert done.code == 0
    assert done.out.startswith("vault  ")
    for part in ("Scores", "Evidence for vault", "Nearest examples", "### vault", "Judged by words;"):
        assert part in done.out


def test_the_parts_of_a_request_are_shown_with_their_owners(call: Call) -> None:
    done = call("route", "--light", "list the files in src, then send 5 usdc to alice")
    assert "not sure" in done.out
    assert "operator  list the files in src" in done.out
    assert "the orchestrator's model decides who does what" in done.out


def test_what_needs_no_specialist_shows_no_plaque(call: Call) -> None:
    done = call("route", "--light", "hello")
    assert done.out.startswith(DIRECT)
    assert "###" not in done.out


def test_an_unsure_route_does_not_claim_that_no_specialist_is_needed(call: Call) -> None:
    done = call("route", "--light", "what is the weather")
    assert done.out.startswith("direct")
    assert "not sure" in done.out
    assert "Not sure whether a specialist is needed" in done.out
    assert "No specialist is needed" not in done.out


def test_only_examples_that_are_like_the_request_are_shown(call: Call) -> None:
    assert "Nearest examples" not in call("route", "--light", "wie wird das wetter").out


def test_the_plaque_that_is_shown_does_not_contradict_itself(call: Call) -> None:
    shown = call("route", "--light", "remember that I like tea").out
    assert "have you noticed any habits of mine" in shown
    assert "tell habits from what it observed" not in shown


def test_json_has_everything(call: Call) -> None:
    found = json.loads(call("route", "--light", "--json", "read", "notes.txt").out)
    assert found["agent"] == "operator"
    assert found["variant"] == "words"
    assert found["confidence"] == found["scores"]["operator"]
    assert found["parts"] == [{"text": "read notes.txt", "agent": "operator"}]
    assert {"sure", "threshold", "evidence", "features", "nearest", "shown"} <= found.keys()


def test_a_request_may_come_from_a_pipe_and_nothing_is_written(home: Home) -> None:
    done = home.run("route", "--light", "-", stdin="read \x1b[31mnotes.txt\n")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert not list(home.data.glob("**/*.db"))


def test_an_empty_request_is_a_mistake(call: Call) -> None:
    done = call("route", " ")
    assert done.code == 2
    assert "the request is empty" in done.err


def test_the_doctor_says_which_variant_answers(call: Call) -> None:
    checks = json.loads(call("doctor", "--json").out)["checks"]
    (check,) = (check for check in checks if check["name"] == "router")
    assert check["status"] == "ok"
    assert check["detail"].startswith("words+encoder")
