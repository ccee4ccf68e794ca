"""Tools to create, list and search skills."""

from asyncio import to_thread
from collections.abc import Iterable, Sequence
from typing import Annotated

from sestet.agents._shared.text import given, refuse_secret
from sestet.core.errors import ToolError
from sestet.core.label import CLEAN, Label, Labelled
from sestet.core.preview import Changes, DiffLine
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, Preview, tool
from sestet.services.skills.catalog import Found
from sestet.services.skills.scan import scan_skill
from sestet.services.skills.service import MOST_WRITTEN, Skills
from sestet.services.skills.skill import LONGEST_DESCRIPTION, LONGEST_NAME, Skill, spoken_name

_QUERY_LENGTH = 500
_MOST_LISTED = 50
_SHORTEST_WORD = 3


def _compose(skills: Skills, arguments: dict[str, JsonValue]) -> Skill:
    name = spoken_name(given(str(arguments["name"]), "name", LONGEST_NAME))
    instructions = str(arguments["instructions"])
    if not instructions.strip():
        raise ToolError("'instructions' is empty")
    described = str(arguments.get("description", "")).strip() or instructions.strip().split("\n")[0]
    script = str(arguments.get("script", ""))
    made = skills.compose(name, described[:LONGEST_DESCRIPTION], instructions, script)
    refuse_secret("\n".join((made.description, instructions, script)))
    return made


async def _preview(call: CallInfo, skills: Skills, /, **arguments: JsonValue) -> Preview:
    made = _compose(skills, arguments)
    if not await to_thread(skills.is_made, made):
        await to_thread(skills.require_free, made.name)
    lines: list[DiffLine] = []
    for path, content in made.files.items():
        lines.append(DiffLine("@", f"{made.name}/{path}"))
        lines += (DiffLine("+", line) for line in content.decode().split("\n"))
    kinds = dict.fromkeys(finding.kind for finding in scan_skill(made.files))
    parts = ["agents will follow its instructions" if not made.entry else "agents will run its script"]
    if kinds:
        parts.append(f"the scan found: {', '.join(kinds)}")
    if call.label.untrusted:
        parts.append("it comes from text that you did not write, so it stays inert until you trust it")
    return Preview("guarded", "; ".join(parts), Changes(tuple(lines), basis=made.digest))


async def _result_of(call: CallInfo, skills: Skills, /, **arguments: JsonValue) -> str | None:
    made = _compose(skills, arguments)
    return _made_text(made, call) if await to_thread(skills.is_made, made) else None


@tool(
    risk="guarded",
    caution="agents will follow its instructions",
    standing="create the skill {name} with exactly these texts",
    reads=(),
    effect="local",
    recovery="probe",
    probe=_result_of,
    preview=_preview,
    examples=(
        "create a skill {name} that says {instructions}",
        "create a skill {name} with the instructions {instructions}",
        "create a skill called {name} that says {instructions}",
        "create a skill called {name} with the instructions {instructions}",
        "create a skill named {name} with the instructions {instructions}",
        "create the skill {name} with the instructions {instructions}",
        "make a skill {name} that says {instructions}",
        "make a skill called {name} with the instructions {instructions}",
        "write a skill {name} with the instructions {instructions}",
    ),
)
async def create_skill(
    call: CallInfo,
    skills: Skills,
    /,
    name: Annotated[str, "A short name in small letters and hyphens, such as weekly-report"],
    instructions: Annotated[str, f"The steps, in Markdown; at most {MOST_WRITTEN:,} characters"],
    description: Annotated[str, "One sentence: what it does and when to use it"] = "",
    script: Annotated[str, "A whole script that does the work, with its first line such as #!/bin/bash"] = "",
) -> str:
    """Create a skill: a named procedure that the operator can run later. Look whether there is one already.

    Without a script, the operator follows the instructions. A script gets the input on stdin.
    """
    arguments: dict[str, JsonValue] = {"name": name, "instructions": instructions}
    made = _compose(skills, {**arguments, "description": description, "script": script})
    if call.basis not in ("", made.digest):
        raise ToolError("the skill is not the one that was shown; nothing was made")
    await to_thread(skills.make, made, call.label, trusted=_is_trusted(made, call))
    return _made_text(made, call)


def _is_trusted(made: Skill, call: CallInfo) -> bool:
    """Whether the approval of this call is trust: the person saw these bytes, and wrote what led to them."""
    return call.basis == made.digest and not call.label.untrusted


def _made_text(made: Skill, call: CallInfo) -> str:
    what = f"Created the skill '{made.name}': {made.description}"
    if _is_trusted(made, call):
        return f"{what}\nIt can be used now."
    return f"{what}\nIt does nothing until the owner trusts it with: sestet skills trust {made.name}"


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "list the skills",
        "list my skills",
        "list all skills",
        "show me the skills",
        "show me my skills",
        "which skills are there",
        "which skills do I have",
        "which skills do you have",
        "what skills are there",
        "what skills do you have",
    ),
)
async def list_skills(skills: Skills, /) -> Labelled:
    """List the skills that can be run, and name those that the owner does not trust."""
    found = await to_thread(skills.catalog.all)
    return _listed(found, "There are no skills yet.")


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "search the skills for {query}",
        "search my skills for {query}",
        "search skills for {query}",
        "find a skill for {query}",
        "find a skill about {query}",
        "is there a skill for {query}",
        "which skill is for {query}",
        "look for a skill about {query}",
    ),
)
async def search_skills(skills: Skills, /, query: Annotated[str, "What the skill should do"]) -> Labelled:
    """Search the skills by their names, descriptions and instructions."""
    query = given(query, "query", _QUERY_LENGTH)
    words = [word for word in query.lower().split() if len(word) >= _SHORTEST_WORD] or [query.lower()]
    found = await to_thread(skills.catalog.all)
    scored = [(sum(word in _searched(each) for word in words), each) for each in found]
    fitting = [each for score, each in sorted(scored, key=lambda pair: -pair[0]) if score]
    return _listed(fitting, f"No skill fits {query!r}.")


def _searched(found: Found) -> str:
    """The text of a trusted skill; of any other one only its name."""
    if not found.is_usable or found.skill is None:
        return found.name.lower()
    return f"{found.name} {found.skill.description} {found.skill.instructions}".lower()


def _listed(found: Sequence[Found], nothing: str) -> Labelled:
    """Usable skills with what they do, then the names of the others: their texts are not shown to a model."""
    usable = [each for each in found if each.is_usable]
    others = [each for each in found if each.state in ("untrusted", "changed") and not each.shadowed_by]
    unusable = sum(each.state == "unusable" for each in found)
    lines = [f"- {each.name}: {each.skill.description}" for each in usable[:_MOST_LISTED] if each.skill]
    if others:
        names = ", ".join(each.name for each in others[:_MOST_LISTED])
        lines.append(f"Not trusted, so they do nothing: {names}. 'sestet skills trust NAME' shows one.")
    if unusable:
        lines.append(f"{unusable} cannot be read; 'sestet skills list' says why.")
    return Labelled("\n".join(lines) or nothing, _joined((*usable, *others)))


def _joined(found: Iterable[Found]) -> Label:
    label = CLEAN
    for each in found:
        label |= each.label
    return label
