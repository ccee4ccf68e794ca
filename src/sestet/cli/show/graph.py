"""Facts on the terminal and as JSON: a tree around one node, lists, proposals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from sestet.cli.show.console import align, print_line
from sestet.core.clean import clean, one_line
from sestet.core.label import Label
from sestet.core.words import day
from sestet.services.facts import (
    PredicateRow,
    Predicates,
    ProposalRow,
    Source,
    Traversal,
    TripleRow,
    node_key,
)

_NAME_WIDTH = 60


@dataclass(slots=True)
class Branch:
    """A node of the tree that a walk makes, with the fact that leads to it."""

    name: str
    triple: TripleRow | None = None
    #: The fact leads from the parent to this node, not the other way.
    outgoing: bool = True
    #: The node stands elsewhere in the tree as well, with its facts.
    again: bool = False
    children: "list[Branch]" = field(default_factory=list["Branch"])


def grow(start: str, found: Traversal) -> Branch:
    """A walk as a tree: each fact once, under the end that was reached first."""
    root = Branch(start)
    # In the order of the walk: each of its facts has an end that was reached before.
    placed = {node_key(start): root}
    order = {node_key(start): 0}
    for triple, _ in found.steps:
        ends = node_key(triple.subject), node_key(triple.object)
        outgoing = order.get(ends[0], len(order)) <= order.get(ends[1], len(order))
        near, far = ends if outgoing else (ends[1], ends[0])
        if near == node_key(start):
            root.name = triple.subject if outgoing else triple.object
        child = Branch(triple.object if outgoing else triple.subject, triple, outgoing, again=far in placed)
        placed[near].children.append(child)
        placed.setdefault(far, child)
        order.setdefault(far, len(order))
    return root


def print_walk(console: Console, root: Branch, found: Traversal) -> None:
    tree = Tree(Text(one_line(root.name, _NAME_WIDTH), style="bold"), guide_style="dim")
    _add_branches(tree, root.children)
    console.print(tree, no_wrap=True, overflow="ellipsis")
    if not found.steps:
        console.print(Text("no such facts", style="dim"))
    if not found.complete:
        left_out = f"… stopped at {len(found.steps)} facts; --limit shows more"
        console.print(Text(left_out, style="yellow"))


def _add_branches(tree: Tree, branches: Iterable[Branch]) -> None:
    for branch in branches:
        assert branch.triple is not None  # only the root has none
        arrow = "─{}→" if branch.outgoing else "←{}─"
        line = Text.assemble(
            (arrow.format(f" {clean(branch.triple.predicate)} "), "cyan"),
            " ",
            (one_line(branch.name, _NAME_WIDTH), "dim italic" if branch.again else "bold"),
            (" ↑" if branch.again else "", "dim"),
            "  ",
            _origin(branch.triple),
        )
        _add_branches(tree.add(line), branch.children)


def print_facts(console: Console, facts: Sequence[TripleRow]) -> None:
    """One line for each fact: its number, its parts, its origin."""
    rows = [[Text(str(fact.id), style="dim"), *_parts(fact), _origin(fact)] for fact in facts]
    for line in align(rows):
        print_line(console, line)


def print_proposals(console: Console, rows: Sequence[ProposalRow], predicates: Predicates) -> None:
    table = [[Text(str(row.id), style="dim"), *_parts(row), _origin(row)] for row in rows]
    for line in align(table):
        print_line(console, line)
    missing = sorted({row.predicate for row in rows} - {*predicates.names})
    if missing:
        adding = " ".join(f"--add {name}" for name in missing)
        needed = (
            f"not known yet, so they cannot be accepted: 'sestet graph predicates {clean(adding)}' adds them"
        )
        console.print(Text(needed, style="yellow"), soft_wrap=True)
    console.print(Text("decide with --accept ID, --reject ID or --accept-all", style="dim"))


def print_decisions(console: Console, rows: Sequence[ProposalRow]) -> None:
    """What was decided: how many facts, and which."""
    counts = Counter(row.state for row in rows)
    states = [f"{counts[state]} {state}" for state in ("accepted", "rejected") if counts[state]]
    table = [[Text(row.state, style="dim"), Text(str(row.id), style="dim"), *_parts(row)] for row in rows]
    for line in align(table):
        print_line(console, line)
    console.print(Text(", ".join(states) or "0 accepted"))


def print_predicates(console: Console, rows: Sequence[PredicateRow]) -> None:
    table = [(Text(clean(row.name)), Text(row.kind, style="dim"), Text(_count(row.facts))) for row in rows]
    for line in align(table):
        print_line(console, line)
    console.print(Text("'sestet graph predicates --add NAME' adds others", style="dim"))


def _count(facts: int) -> str:
    return "1 fact" if facts == 1 else f"{facts:,} facts"


def _parts(fact: TripleRow | ProposalRow) -> list[Text]:
    return [
        Text(one_line(fact.subject, _NAME_WIDTH), style="bold"),
        Text(clean(fact.predicate), style="cyan"),
        Text(one_line(fact.object, _NAME_WIDTH), style="bold"),
    ]


def _origin(fact: TripleRow | ProposalRow) -> Text:
    """The origin of a fact: its text, its conversation, its day, and whether it is trusted."""
    parts = [_source(fact.source), _conversation(fact.session_id, fact.turn_id)]
    if isinstance(fact, ProposalRow):
        parts.append(f"by {fact.proposed_by}" if fact.proposed_by == "rules" else "by the model")
    parts.append(day(fact.created_at))
    line = Text(" · ".join(part for part in parts if part), style="dim")
    return line.append_text(_trust(fact.label))


def _source(source: Source) -> str:
    return f"read from {source.collection} {source.item_id}" if source.collection else ""


def _conversation(session_id: str, turn_id: str) -> str:
    if not session_id:
        return "by you"
    return f"session {one_line(session_id, 40)} · turn {one_line(turn_id, 40)}"


def _trust(label: Label) -> Text:
    if not label.untrusted:
        return Text(" · trusted", style="dim")
    read = f" ({one_line(', '.join(label.sources), 60)})" if label.sources else ""
    return Text(f" · untrusted{read}", style="yellow")
