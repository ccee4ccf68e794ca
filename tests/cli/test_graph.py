"""``sestet graph``: facts shown with where they came from, corrected, drawn, and decided on."""

import json
import re
import stat
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.cli.show.graph import Branch, grow
from sestet.cli.show.graph_svg import draw
from sestet.core.label import CLEAN, Label, Origin
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.graph import GraphStore, Traversal
from tests.cli.conftest import Call
from tests.cli.program import Home

DAY = re.compile(r"\d{4}-\d\d-\d\d")
STRANGE = Label(untrusted=True, sources=("browser_fetch of navigator",))
HERE = Origin("s1", "t1", CLEAN)
_NAME = "{http://www.w3.org/2000/svg}"


def fill(home: Home, *facts: tuple[str, str, str], origin: Origin = HERE) -> None:
    database = Database(home.data / FILE_NAME)
    for fact in facts:
        GraphStore(database).add(*fact, origin)
    database.close()


def plain(text: str) -> str:
    return DAY.sub("<day>", text)


def test_a_fact_is_added_shown_listed_and_removed(call: Call) -> None:
    assert plain(call("graph", "add", "Ada", "works at", "Acme").out) == (
        "1  Ada  works_at  Acme  by you · <day> · trusted\n"
    )
    assert plain(call("graph", "list").out) == "1  Ada  works_at  Acme  by you · <day> · trusted\n"
    assert call("graph", "remove", "ada", "works-at", "acme").out == "removed: Ada → works_at → Acme\n"
    done = call("graph", "remove", "1")
    assert (done.code, done.err) == (1, "sestet: there is no fact '1', so nothing was removed\n")
    assert "The graph is empty" in call("graph", "list").err


def test_the_tree_shows_each_fact_once_with_its_session_turn_day_and_label(home: Home, call: Call) -> None:
    fill(home, ("b", "follows", "a"), ("b", "caused_by", "c"))
    fill(home, ("c", "contains", "a"), origin=Origin("s2", "t2", STRANGE))

    assert plain(call("graph", "show", "B").out) == (
        "b\n"
        "├── ─ follows → a  session s1 · turn t1 · <day> · trusted\n"
        "│   └── ← contains ─ c ↑  session s2 · turn t2 · <day> · untrusted (browser_fetch of navigator)\n"
        "└── ─ caused_by → c  session s1 · turn t1 · <day> · trusted\n"
    )
    shown = json.loads(call("graph", "show", "b", "--json").out)
    assert shown["nodes"] == {"a": 1, "c": 1}
    assert [fact["depth"] for fact in shown["facts"]] == [1, 1, 2]
    assert shown["facts"][2]["sources"] == ["browser_fetch of navigator"]
    assert shown["complete"]


def test_direction_predicate_depth_and_limit_are_kept_and_said(home: Home, call: Call) -> None:
    fill(home, ("a", "follows", "b"), ("b", "follows", "c"), ("d", "contains", "a"))

    def objects(*options: str) -> list[str]:
        shown = json.loads(call("graph", "show", "a", "--json", *options).out)
        return [f"{fact['subject']}{fact['object']}" for fact in shown["facts"]]

    assert objects() == ["ab", "da", "bc"]
    assert objects("--depth", "1") == ["ab", "da"]
    assert objects("--direction", "out") == ["ab", "bc"]
    assert objects("--direction", "in") == ["da"]
    assert objects("--predicate", "contains") == ["da"]
    assert "… stopped at 1 facts; --limit shows more" in call("graph", "show", "a", "--limit", "1").out


def test_a_path_is_listed_fact_by_fact(home: Home, call: Call) -> None:
    fill(home, ("a", "follows", "b"), ("c", "follows", "b"), ("x", "follows", "y"))

    assert [line.split()[1:4] for line in call("graph", "path", "a", "c").out.splitlines()] == [
        ["a", "follows", "b"],
        ["c", "follows", "b"],
    ]
    assert json.loads(call("graph", "path", "a", "c", "--json").out)["nodes"] == ["a", "b", "c"]
    done = call("graph", "path", "a", "x")
    assert (done.code, done.err) == (1, "No facts lead there within 6 steps.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("show", "zed"), 1, "the graph holds nothing about 'zed'"),
        (("show", "Ad"), 1, "the graph holds nothing about 'Ad'; it knows 'Ada'"),
        (("show", "Ada", "--predicate", "folows"), 1, "did you mean 'follows'?"),
        (("show", "Ada", "--direction", "up"), 2, "'up' is not one of 'out', 'in', 'both'"),
        (("path", "Ada", "zed"), 1, "the graph holds nothing about 'zed'"),
        (
            ("add", "Ada", "mentors", "Ben"),
            1,
            "there is no predicate 'mentors'. 'sestet graph predicates' lists",
        ),
        (("add", "Ada", "mentors", "Ben"), 1, "'sestet graph predicates --add mentors' adds this one"),
        (("add", "Ada", "work_at", "Acme"), 1, "there is no predicate 'work_at'; did you mean 'works_at'?"),
        (("predicates", "--add", "-"), 2, "graph.predicates: '-' is not a name"),
        (("add", " ", "follows", "Acme"), 1, "a fact needs a subject and an object"),
        (("remove", "Ada", "follows"), 2, "give the number of a fact, or its subject, predicate and object"),
        (("remove", "Ada", "follows", ""), 1, "so nothing was removed"),
        (("remove", "9" * 30), 2, "give the number of a fact"),
        (("review", "--accept", "9" * 30), 2, "--accept"),
        (("show", "Ada", "--limit", "9" * 30), 2, "--limit"),
        (("list", "--predicate", "nope"), 1, "there is no predicate 'nope'"),
        (("review", "--accept", "7"), 1, "proposal 7 does not exist"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_way_out(
    home: Home, call: Call, arguments: tuple[str, ...], code: int, said: str
) -> None:
    fill(home, ("Ada", "follows", "Ben"))

    done = call("graph", *arguments)

    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_graph_that_is_switched_off_says_what_turns_it_on(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("graph: {enabled: false}\n", encoding="utf-8")

    done = call("graph", "list")

    assert (done.code, done.err) == (
        1,
        "sestet: the graph is switched off; graph.enabled in the settings turns it on\n",
    )
    assert "graph.enabled: true turns it on" in call("doctor").out


def test_predicates_are_listed_with_their_kind_and_their_facts(home: Home, call: Call) -> None:
    (home.work / "sestet.yaml").write_text("graph: {predicates: [mentors]}\n", encoding="utf-8")
    fill(home, ("a", "follows", "b"), ("a", "adores", "b"))

    rows = {row["name"]: row for row in json.loads(call("graph", "predicates", "--json").out)}

    assert rows["follows"] == {"name": "follows", "kind": "built in", "facts": 1}
    assert rows["mentors"] == {"name": "mentors", "kind": "declared", "facts": 0}
    assert rows["adores"] == {"name": "adores", "kind": "no longer declared", "facts": 1}
    assert "follows" in call("graph", "predicates").out


def test_what_was_found_in_saved_texts_is_reviewed(home: Home, call: Call) -> None:
    for fact in ("Ada works at Acme", "Ben works at Acme", "Cleo works at Acme", "Dora is the mayor of Ulm"):
        assert call("ask", f"remember that {fact}").code == 0

    listed = call("graph", "review").out
    assert re.search(
        r"1  Ada   works_at  Acme  read from memories 1 · session .+ · turn .+ · by rules", listed
    )
    assert "'sestet graph predicates --add mayor_of' adds them" in listed
    assert "4 wait for your decision" in call("doctor").out
    rows = json.loads(call("graph", "review", "--accept", "1", "--reject", "2", "--json").out)
    assert [(row["subject"], row["state"]) for row in rows] == [
        ("Ada", "accepted"),
        ("Ben", "rejected"),
        ("Cleo", "open"),
        ("Dora", "open"),
    ]
    assert "did you mean" not in call("graph", "review", "--accept", "4").err
    assert call("graph", "review", "--accept", "4").code == 1
    assert call("graph", "review", "--accept", "1").err.startswith("sestet: proposal 1 was accepted already")
    assert call("graph", "review", "--accept", "3", "--reject", "3").code == 1
    left = call("graph", "review", "--accept-all", "--json").out
    assert [(row["state"], row["declared"]) for row in json.loads(left)] == [
        ("accepted", True),
        ("open", False),
    ]
    facts = json.loads(call("graph", "list", "--json").out)
    assert [fact["subject"] for fact in facts] == ["Cleo", "Ada"]
    assert facts[1]["read_from"] == {"collection": "memories", "id": 1}


def test_a_review_says_how_many_facts_were_decided_and_which(call: Call) -> None:
    for fact in ("Ada works at Acme", "Ben works at Acme", "Cleo works at Acme"):
        call("ask", f"remember that {fact}")

    done = call("graph", "review", "--accept", "1", "--reject", "2")

    assert done.out.startswith(
        "accepted  1  Ada  works_at  Acme\nrejected  2  Ben  works_at  Acme\n1 accepted, 1 rejected\n"
    )
    done = call("graph", "review", "--accept-all")
    assert done.out == "accepted  3  Cleo  works_at  Acme\n1 accepted\n"
    assert done.err == "Nothing waits for a decision.\n"
    assert call("graph", "review", "--accept-all").out == "0 accepted\n"


def test_a_link_of_your_own_is_added_by_command(home: Home, call: Call) -> None:
    done = call("graph", "predicates", "--add", "plays for", "--add", "works at")

    settings = home.directory / ".config" / "sestet" / "sestet.yaml"
    assert done.err == "added to graph.predicates in ~/.config/sestet/sestet.yaml: plays_for\n"
    assert call("graph", "add", "Ada", "plays for", "Acme").code == 0
    assert call("graph", "predicates", "--add", "mentors").code == 0
    assert "predicates: [plays_for, mentors]" in settings.read_text(encoding="utf-8").replace('"', "")


def test_at_a_terminal_an_unknown_link_is_offered_to_be_added(home: Home) -> None:
    with home.terminal("graph", "add", "Ada", "mentors", "Ben") as terminal:
        terminal.expect("Add 'mentors' to your settings? [y/N]:")
        terminal.say("n")
        terminal.expect("graph predicates --add mentors' adds this one")
    with home.terminal("graph", "add", "Ada", "mentors", "Ben") as terminal:
        terminal.expect("Add 'mentors' to your settings? [y/N]:")
        terminal.say("y")
        terminal.expect("mentors  Ben")


def test_a_drawing_is_written_where_it_is_wanted(home: Home, call: Call) -> None:
    fill(home, ("<b> & \x1b[31mred", "follows", "a"))

    done = call("graph", "show", "a", "--svg", "graph.svg")

    assert (done.code, done.out, done.err) == (0, "", "drawn into graph.svg\n")
    assert stat.S_IMODE((home.work / "graph.svg").stat().st_mode) == 0o600
    texts = [text for _, text in _texts((home.work / "graph.svg").read_text(encoding="utf-8"))]
    assert "<b> & red" in texts
    done = call("graph", "show", "a", "--svg", "no/such/graph.svg")
    assert (done.code, done.err) == (
        1,
        "sestet: 'no/such/graph.svg' cannot be written: No such file or directory\n",
    )


_nodes = st.sampled_from([f"{'node' * (n % 7)} {n}" for n in range(30)])


@given(edges=st.lists(st.tuples(_nodes, st.sampled_from(["follows", "caused_by"]), _nodes), max_size=45))
def test_no_two_texts_of_a_drawing_overlap(
    tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[str, str, str]]
) -> None:
    database = Database(tmp_path_factory.mktemp("graph") / FILE_NAME)
    graph = GraphStore(database)
    graph.add("start", "follows", " 0", Origin("s", "t", STRANGE))
    for edge in edges:
        graph.add(*edge, Origin("s", "t", CLEAN))
    found = graph.traverse("start", 6, 100)
    database.close()
    root = grow("start", found)

    boxes = [box for box, _ in _texts(draw(root))]

    assert sorted(triple_ids(root)) == sorted(step.triple.id for step in found.steps)
    for number, one in enumerate(boxes):
        assert not any(_overlap(one, other) for other in boxes[number + 1 :])


def test_a_tree_of_nothing_is_its_start() -> None:
    assert grow("x", Traversal((), {}, complete=True)) == Branch("x")
    assert "More" not in draw(Branch("x"))
    assert "There are more facts than were drawn." in draw(Branch("x"), complete=False)


def triple_ids(branch: Branch) -> Iterator[int]:
    for child in branch.children:
        assert child.triple is not None
        yield child.triple.id
        yield from triple_ids(child)


def _texts(svg: str) -> Iterator[tuple[tuple[float, float, float, float], str]]:
    """Every text with its box, at the width of a usual font."""
    for element in ElementTree.fromstring(svg).iter(f"{_NAME}text"):  # noqa: S314 - our own drawing
        text, kind = element.text or "", element.get("class")
        size = 11 if kind in ("predicate", "note") else 14
        x, y, width = float(element.get("x") or 0), float(element.get("y") or 0), len(text) * size * 0.55
        left = x - width / 2 if element.get("text-anchor") == "middle" else x
        yield (left, y - size * 0.8, left + width, y + size * 0.2), text


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
