"""Skills on the terminal: a list, one with its files and findings, and the text of a file."""

from collections.abc import Sequence
from pathlib import Path

import typer

from sestet.cli.show.console import shorten_home
from sestet.core.clean import reveal
from sestet.core.label import Label
from sestet.services.files import human_size
from sestet.services.skills.catalog import Found
from sestet.services.skills.scan import scan_skill

_WORDS = {
    "trusted": "trusted",
    "untrusted": "not trusted",
    "changed": "changed since you trusted it",
    "unusable": "cannot be used",
}
_SHORT = 100


def as_data(found: Found, *, whole: bool = False) -> dict[str, object]:
    """A skill as JSON; ``whole``: with its instructions."""
    skill = found.skill
    data: dict[str, object] = {
        "name": found.name,
        "place": found.place.kind,
        "where": found.where,
        "state": found.state,
        "problem": found.problem,
        "shadowedBy": found.shadowed_by,
    }
    if skill is None:
        return data
    data |= {
        "description": skill.description,
        "digest": skill.digest,
        "entry": skill.entry,
        "files": {path: len(content) for path, content in sorted(skill.files.items())},
        "findings": [
            {"kind": each.kind, "file": each.file, "line": each.line, "text": each.text}
            for each in scan_skill(skill.files)
        ],
        "madeAfterReading": list(found.made_with.sources),
    }
    return data | {"instructions": skill.instructions} if whole else data


def print_list(found: Sequence[Found], places: Sequence[Path]) -> None:
    """A line for each skill, and one for its problem."""
    if not found:
        typer.echo("there are no skills; Sestet looks for folders with a SKILL.md in:")
        for place in places:
            typer.echo(f"  {shorten_home(str(place))}")
        return
    width = max(len(_line(each.name)) for each in found)
    for each in found:
        state = _WORDS[each.state]
        described = _line(each.skill.description) if each.skill else ""
        typer.echo(f"{_line(each.name):{width}}  {state} · {_where(each)}")
        for detail in (described, each.problem, _shadow(each)):
            if detail:
                typer.echo(f"{'':{width}}  {_cut(_line(detail)) if detail is described else _line(detail)}")


def print_skill(found: Found) -> None:
    """Everything about a skill but its texts."""
    typer.echo(f"{_line(found.name)}: {_WORDS[found.state]} · {_where(found)}")
    for detail in (found.problem, _shadow(found)):
        if detail:
            typer.echo(f"  {_line(detail)}")
    if (skill := found.skill) is None:
        return
    facts = (
        ("what it does", skill.description),
        ("starts", skill.entry or "nothing: it is instructions for the operator"),
        ("license", skill.license),
        ("needs", skill.compatibility),
        (
            "asks for tools",
            f"{skill.allowed_tools} (Sestet does not follow this)" if skill.allowed_tools else "",
        ),
        ("made after reading", _sources(found.made_with)),
        ("hash", skill.digest),
    )
    for name, value in facts:
        if value:
            typer.echo(f"  {name}: {_line(value)}")
    for path, content in sorted(skill.files.items()):
        typer.echo(f"  file: {_line(path)} ({human_size(len(content))})")
    print_findings(found)


def print_findings(found: Found) -> None:
    """What the scan found; it is a help for reading and no proof."""
    findings = scan_skill(found.skill.files) if found.skill else []
    if not findings:
        typer.echo("  scan: found nothing, which proves nothing: read it before you trust it")
    for each in findings:
        at = f":{each.line}" if each.line else ""
        typer.echo(f"  scan: {each.kind}: {_line(each.file)}{at}: {_line(each.text)}")


def print_text(text: str) -> None:
    """A text with every invisible character written out."""
    typer.echo(reveal(text.replace("\r\n", "\n").replace("\t", "    ")).rstrip("\n"))


def _sources(label: Label) -> str:
    return ", ".join(label.untrusted_sources)


def _where(found: Found) -> str:
    return _line(shorten_home(found.where))


def _shadow(found: Found) -> str:
    return f"not used: {shorten_home(found.shadowed_by)} has the same name" if found.shadowed_by else ""


def _line(text: str) -> str:
    return reveal(text).replace("\n", "<U+000A>")


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
