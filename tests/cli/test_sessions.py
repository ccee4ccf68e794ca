"""``sestet sessions``: search, titles, exports and deletion, and the ways to name a session."""

import json
import stat

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Home

TRIP, FILES = "20261115-1a2b", "20261116-3c4d"


@pytest.fixture(autouse=True)
def talked(call: Call) -> None:
    call("ask", "--session", TRIP, "remember that the ferry to Bergen leaves at nine")
    call("ask", "--session", FILES, "list the files here")


def ids(call: Call) -> list[str]:
    return [row["id"] for row in json.loads(call("sessions", "--json").out)]


@pytest.mark.parametrize("wanted", [FILES, "3c4d", "20261116", "3c", "last"])
def test_a_session_is_found_by_any_unambiguous_part_of_its_name(call: Call, wanted: str) -> None:
    assert "list the files here" in call("sessions", "show", wanted).out


def test_a_part_that_several_names_have_is_an_error_that_lists_them(call: Call) -> None:
    done = call("sessions", "show", "2026111")

    assert done.code == 1
    assert f"'2026111' can be {FILES}, {TRIP}; write more of the id" in done.err


def test_a_wrong_name_is_an_error_with_the_nearest_one(call: Call) -> None:
    done = call("sessions", "rename", "20261116-3c4x", "new")

    assert (done.code, done.err) == (
        1,
        f"sestet: there is no session '20261116-3c4x'; did you mean '{FILES}'?\n",
    )


def test_ask_goes_on_in_the_last_session_and_begins_new_ones_by_name_alone(call: Call) -> None:
    call("ask", "--session", "last", "hello")
    call("ask", "--session", "2026", "hello")

    assert ids(call) == ["2026", FILES, TRIP]
    assert len(json.loads(call("sessions", "show", FILES, "--json").out)["turns"]) == 2
    wrong = call("ask", "--session", "a/b", "hello")
    assert wrong.code == 1
    assert "use letters, digits and . _ - @ : +, 64 at most" in wrong.err


def test_a_title_of_ones_own_stays_and_is_shown(call: Call) -> None:
    done = call("sessions", "rename", "1a2b", "To", "Bergen,  by\nferry")
    call("ask", "--session", TRIP, "hello")

    assert (done.code, done.err) == (0, f"{TRIP}: To Bergen, by ferry\n")
    assert "To Bergen, by ferry" in call("sessions").out
    assert call("sessions", "rename", "1a2b", " ").code == 1


def test_conversations_are_found_by_their_words(call: Call) -> None:
    found = call("sessions", "search", "ferries")
    (row,) = json.loads(call("sessions", "search", "ferries", "--json").out)

    assert f"{TRIP}  20" in found.out
    assert "the ferry to Bergen leaves at nine" in found.out
    assert (row["session"], row["asked"]) == (TRIP, "remember that the ferry to Bergen leaves at nine")
    nothing = call("sessions", "search", "zeppelin")
    assert (nothing.code, nothing.out) == (0, "")
    assert json.loads(call("sessions", "search", "zeppelin", "--json").out) == []
    assert "add a word" in call("sessions", "search", "the").err


def test_a_conversation_is_found_by_the_title_that_you_gave_it(call: Call) -> None:
    call("sessions", "rename", FILES, "Inventory of the ferries")

    found = json.loads(call("sessions", "search", "ferry", "--json").out)

    assert [row["session"] for row in found] == [FILES, TRIP]
    assert found[0]["asked"] == "list the files here"
    assert len(json.loads(call("sessions", "search", "ferry", "--limit", "1", "--json").out)) == 1


@pytest.mark.parametrize("title", ["", "  ", "\u200b\u200d"])
def test_a_title_that_nobody_can_see_is_refused(call: Call, title: str) -> None:
    assert "the title is empty" in call("sessions", "rename", FILES, title).err
    assert "list the files here" in call("sessions").out


def test_no_session_has_a_name_that_looks_like_an_option_or_like_last(call: Call) -> None:
    assert "and no '-' at the beginning" in call("ask", "--session", "-x", "hello").err
    call("ask", "--session", "LAST", "hello")

    assert ids(call) == [FILES, TRIP]
    assert "list the files here" in call("sessions", "show", "Last").out


def test_an_export_reads_well_and_is_private(call: Call, home: Home) -> None:
    file = home.work / "files.md"

    assert call("sessions", "export", "last", "--out", str(file)).code == 0

    text = file.read_text(encoding="utf-8")
    parts = [
        "# list the files here",
        f"session {FILES}",
        "**You**",
        "- operator was asked:",
        "`fs_list",
        "**Sestet**",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = call("sessions", "export", "last", "--out", str(file))
    assert (again.code, "is there already" in again.err) == (1, True)


def test_an_export_as_json_has_every_event(call: Call) -> None:
    exported = json.loads(call("sessions", "export", "last", "--format", "json").out)

    shown = json.loads(call("sessions", "show", "last", "--json").out)
    assert (exported["id"], exported["title"]) == (FILES, "list the files here")
    assert exported["turns"] == shown["turns"]


def test_nothing_is_deleted_without_a_yes(call: Call) -> None:
    done = call("sessions", "delete", "last")

    assert done.code == 1
    assert "pass --yes" in done.err
    assert ids(call) == [FILES, TRIP]


def test_a_deleted_session_is_gone_and_what_it_was_told_stays(call: Call) -> None:
    done = call("sessions", "delete", "1a2b", "--yes")

    assert (done.code, done.out) == (0, "")
    assert f"{TRIP}: deleted, 1 turn" in done.err
    assert "stays: 1 fact" in done.err
    assert ids(call) == [FILES]
    assert call("sessions", "search", "ferry").out == ""
    assert "ferry" in call("memory", "list").out


def test_a_session_is_deleted_with_its_memories_when_asked_to(call: Call) -> None:
    done = json.loads(call("sessions", "delete", TRIP, "--yes", "--with-memories", "--json").out)

    assert (done["deleted"], done["turns"], done["saved"]["facts"], done["wipe"]) == (TRIP, 1, 1, "wiped")
    assert "m1" in done["with_it"]
    assert "ferry" not in call("memory", "list").out


def test_a_terminal_asks_before_it_deletes(home: Home) -> None:
    with home.terminal("sessions", "delete", TRIP) as terminal:
        terminal.expect("stays: 1 fact that it was told to remember")
        terminal.expect("Delete it for good? [y/N]")
        terminal.say("y")
        terminal.expect(f"{TRIP}: deleted")
        assert terminal.wait() == 0
