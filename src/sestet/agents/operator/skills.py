"""Tools to run stored skills and to read their files."""

from asyncio import to_thread
from collections.abc import Sequence
from typing import Annotated, cast

from sestet.agents.operator.shell import MOST_SECONDS, PATIENCE, result_text
from sestet.core.errors import ToolError
from sestet.core.label import Label, Labelled
from sestet.core.preview import Changes, DiffLine
from sestet.core.record import Record
from sestet.core.schema import JsonValue
from sestet.core.tool import CallInfo, CallRules, Preview, tool
from sestet.services.skills.catalog import Found
from sestet.services.skills.service import ScriptRun, Skills
from sestet.services.skills.skill import MANUAL, Skill, SkillError, program_of, spoken_name
from sestet.services.text_encoding import decode_text, is_binary

_CAUTION = "a script of a skill may change or delete files"
_Seconds = Annotated[int, "Seconds after which it is stopped", {"minimum": 1, "maximum": MOST_SECONDS}]
_Name = Annotated[str, "The name of the skill, such as weekly-report"]


class _Wish(Record):
    """What one call would do with a skill."""

    found: Found
    skill: Skill
    #: Empty: the instructions are returned, and nothing runs.
    script: str

    @property
    def basis(self) -> str:
        return f"{self.skill.digest} {self.script}"


def _wish(skills: Skills, name: str, script: str) -> _Wish:
    found, skill = skills.catalog.trusted(spoken_name(name))
    chosen = script or skill.entry
    if chosen:
        program_of(skill, chosen)
    return _Wish(found, skill, chosen)


def _rules(skills: Skills, /, name: str, script: str = "", **_: object) -> CallRules:
    """Reading instructions changes nothing; a script is a command."""
    name = spoken_name(name)
    try:
        runs = script or skills.catalog.entry_of(name)
    except SkillError:
        # The preview ends the call with this error.
        runs = ""
    if not runs:
        return CallRules("safe", "none", "pure")
    effect = "external" if skills.has_network(name) else "local"
    if skills.owner_allows(name):
        return CallRules("safe", effect, "unsafe", owner_allows=True)
    return CallRules("guarded", effect, "unsafe", _CAUTION)


async def _preview(call: CallInfo, skills: Skills, /, **arguments: JsonValue) -> Preview:
    wish = await to_thread(_wish, skills, str(arguments["name"]), str(arguments.get("script", "")))
    if not wish.script:
        return Preview("safe", changes=Changes(basis=wish.basis))
    given = cast("Sequence[str]", arguments.get("arguments", ()))
    name = wish.skill.name
    network = "with the network" if skills.has_network(name) else "without network"
    lines = (
        DiffLine("@", f"runs {' '.join((wish.script, *given))} in the sandbox, {network}"),
        DiffLine("@", f"from {wish.found.where}, which you trust as {wish.skill.digest[:12]}"),
    )
    risk = "safe" if skills.owner_allows(name) else "guarded"
    return Preview(risk, _CAUTION, Changes(lines, basis=wish.basis))


@tool(
    risk="guarded",
    caution=_CAUTION,
    standing="run the skill {name} with ANY input",
    reads=("untrusted", "private"),
    effect="local",
    targets=("name", "script", "arguments"),
    recovery="unsafe",
    timeout=PATIENCE,
    rules=_rules,
    preview=_preview,
    examples=(
        "run the skill {name}",
        "run the {name} skill",
        "run the skill {name} with {input}",
        "run the {name} skill with {input}",
        "run the {name} skill on {input}",
        "use the skill {name}",
        "use the {name} skill",
        "use the {name} skill on {input}",
        "start the skill {name}",
        "start the {name} skill",
        "execute the skill {name}",
        "apply the {name} skill to {input}",
    ),
)
async def skill_run(
    call: CallInfo,
    skills: Skills,
    /,
    name: _Name,
    input: Annotated[str, "What the skill works on; its script reads it from stdin"] = "",
    script: Annotated[str, "One of the skill's scripts, if its instructions name one: scripts/fill.py"] = "",
    arguments: Annotated[tuple[str, ...], "Arguments for the script, each one a text of its own"] = (),
    timeout: _Seconds = 60,  # noqa: ASYNC109 - the model's word for it
) -> Labelled:
    """Run a skill that the person trusts. Returns the output of its script, or its instructions to follow.

    A skill with instructions only runs nothing: do what they say with your own tools, for the given input.
    """
    wish = await to_thread(_wish, skills, name, script)
    if call.basis not in ("", wish.basis):
        raise ToolError(f"the skill '{name}' has changed since this call was looked at; nothing was run")
    if not wish.script:
        told = (
            f"the skill '{wish.skill.name}' runs nothing by itself: it has instructions that a real model "
            f"follows. 'sestet skills show {wish.skill.name}' shows them, and 'sestet setup' finds a model"
        )
        return Labelled(_instructions(wish.skill, input), wish.found.label, for_person=told)
    run = ScriptRun(wish.skill, wish.script, arguments, input, timeout)
    result = await skills.run_script(run, call.report)
    printed = Label(untrusted=True, private=True, sources=(f"the output of the skill {name}",))
    return Labelled(result_text(result), printed | wish.found.label)


@tool(
    risk="safe",
    reads=("untrusted", "private"),
    effect="none",
    recovery="pure",
    examples=(
        "read the skill {name}",
        "read the {name} skill",
        "show me the skill {name}",
        "show me the {name} skill",
        "what does the skill {name} say",
        "what does the {name} skill say",
        "read {resource} of the skill {name}",
        "read the file {resource} of the skill {name}",
        "show me {resource} of the skill {name}",
    ),
)
async def skill_read(
    skills: Skills,
    /,
    name: _Name,
    resource: Annotated[str, "A file of the skill, such as references/format.md"] = MANUAL,
) -> Labelled:
    """Read a file of a skill that the person trusts: its instructions, a reference or a script."""
    found, skill = await to_thread(skills.catalog.trusted, spoken_name(name))
    content = skill.files.get(resource.removeprefix("./"))
    if content is None:
        raise ToolError(f"the skill '{name}' has no file {resource!r}; it has: {', '.join(skill.files)}")
    if is_binary(content):
        raise ToolError(f"'{resource}' is not text")
    return Labelled(decode_text(content), found.label)


def _instructions(skill: Skill, given: str) -> str:
    parts = [f"Instructions of the skill '{skill.name}', to follow with your own tools:", skill.instructions]
    if given.strip():
        parts.append(f"The input: {given}")
    resources = [path for path in skill.files if path != MANUAL and path not in skill.scripts]
    if resources:
        parts.append(f"Files for skill_read: {', '.join(resources)}")
    if skill.scripts:
        parts.append(f"Scripts for skill_run: {', '.join(skill.scripts)}")
    return "\n".join(parts)
