"""Writes the parts of the documentation that are derived from the code.

A part is between ``<!-- generated: name -->`` and ``<!-- end -->``; people write the rest by hand.
``--check`` writes nothing: it names stale pages and exits with 1.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Literal, NamedTuple, TypeAlias, cast, get_args, get_origin, get_type_hints

from typer import Context
from typer.core import TyperCommand, TyperGroup

import sestet
from scripts.event_types import FILE as EVENT_TYPES
from scripts.event_types import render_event_types
from scripts.schema import FILE as SCHEMA
from scripts.schema import render_schema
from sestet.agents import room_names, room_tools
from sestet.assembly import available_tools
from sestet.cli.options import EXIT_CODES
from sestet.cli.program import LazyCommand, build_program
from sestet.cli.talk.slash import COMMANDS
from sestet.config import Settings, settings_from, settings_schema
from sestet.core.event import EVENTS, Event, Stamp, event_fields
from sestet.core.offer import named_tools
from sestet.core.schema import JsonObject, JsonValue
from sestet.server.application import all_endpoints
from sestet.storage.database import FILE_NAME, Database

ROOT = Path(__file__).parents[1]

_PART = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def code(text: str) -> str:
    """Return the text as inline code, also if it contains backticks."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def render_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Line breaks in a cell become spaces, and bars are escaped."""
    return "\n".join(_row(cells) for cells in (heads, ["---"] * len(heads), *rows))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


class Setting(NamedTuple):
    """One row of the table of settings."""

    key: str
    schema: JsonObject


def iter_settings(schema: JsonObject | None = None, path: str = "") -> Iterator[Setting]:
    """Yield each setting with its dotted key; ``<id>`` is a name that the owner chooses, ``[]`` an item."""
    schema = settings_schema() if schema is None else schema
    for name, member in cast("Mapping[str, JsonObject]", schema["properties"]).items():
        key = f"{path}{name}"
        if "properties" in member:
            yield from iter_settings(member, f"{key}.")
            continue
        yield Setting(key, member)
        inner, step = member.get("items"), "[]."
        if inner is None:
            inner, step = member.get("additionalProperties"), ".<id>."
        if isinstance(inner, Mapping) and "properties" in inner:
            yield from iter_settings(inner, f"{key}{step}")


def render_settings() -> str:
    rows = [
        (code(setting.key), _kind(setting.schema), _default(setting.schema), _meaning(setting.schema))
        for setting in iter_settings()
    ]
    return render_table(("key", "type", "default", "meaning"), rows)


def _kind(schema: JsonObject) -> str:
    if choices := cast("Sequence[str]", schema.get("enum", ())):
        return " or ".join(code(choice) for choice in choices)
    names = {"array": "list", "object": "map", "string": "text", "boolean": "true or false"}
    kind = names.get(str(schema["type"]), str(schema["type"]))
    return f"{kind}, at least {schema['minimum']}" if "minimum" in schema else kind


def _default(schema: JsonObject) -> str:
    if "default" not in schema:
        return "empty" if schema["type"] in ("array", "object") else "required"
    value = schema["default"]
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "empty" if value == "" else code(str(value))


def _meaning(schema: JsonObject) -> str:
    secret = " (never shown)" if schema.get("writeOnly") else ""
    return f"{schema.get('description', '')}{secret}"


def render_agents() -> str:
    rows = [
        (
            code(spec.name),
            spec.description,
            "<br>".join(f"{code(prefix)} {phrase}" for prefix, phrase in spec.capabilities.items()) or "none",
            "<br>".join(f"“{example}”" for example in spec.examples[:3]),
        )
        for spec in sestet.default_specs()
    ]
    return render_table(("agent", "what it does", "prefixes and their phrases", "examples"), rows)


def render_tools() -> str:
    switches = _switches()
    rows = [
        (
            code(tool.name),
            agent,
            tool.description.split("\n\n")[0],
            ", ".join(tool.reads) or "nothing",
            tool.effect,
            tool.risk,
            ", ".join(code(switch) for switch in switches.get(tool.name, ())) or "always",
        )
        for agent in room_names()
        for tool in room_tools(agent)
    ]
    heads = ("tool", "owner", "what the model reads of it", "reads", "effect", "risk", "exists by")
    return render_table(heads, rows)


def _switches() -> dict[str, list[str]]:
    """Return for each tool the settings that switch it on or off, found by trying each setting."""
    found: dict[str, list[str]] = {}
    usual = _tool_names(Settings())
    for setting in iter_settings():
        *sections, name = setting.key.split(".")
        if len(sections) != 1:
            continue
        for value in _other_values(setting.schema):
            for tool in usual ^ _tool_names(settings_from({sections[0]: {name: value}})):
                found.setdefault(tool, []).append(setting.key)
    return found


def _other_values(schema: JsonObject) -> list[JsonValue]:
    values = cast("Sequence[JsonValue]", schema.get("enum", schema.get("examples", ())))
    if schema["type"] == "boolean":
        values = (True, False)
    return [value for value in values if value != schema.get("default")]


def _tool_names(settings: Settings) -> set[str]:
    with TemporaryDirectory() as folder:
        database = Database(Path(folder) / FILE_NAME)
        try:
            return {tool.name for tool in available_tools(settings, database)}
        finally:
            database.close()


def render_events() -> str:
    return "\n\n".join(_render_event(event) for event in EVENTS)


def _render_event(event: type[Event]) -> str:
    head = f"### {code(event.kind)}\n\n{_sentence(event)}"
    table = _render_fields(event, event_fields(event))
    return f"{head}\n\n{table}" if table else f"{head} It has no fields of its own."


def render_stamp() -> str:
    return _render_fields(Stamp, Stamp.__struct_fields__)


def _render_fields(record: type, names: Sequence[str]) -> str:
    hints = get_type_hints(record)
    return (
        render_table(("field", "type"), [(code(name), type_text(hints[name])) for name in names])
        if names
        else ""
    )


def type_text(hint: object) -> str:
    """Return a type in readable form; a closed set as its choices."""
    if get_origin(hint) is Literal:
        return " · ".join(code(str(choice)) for choice in get_args(hint))
    if isinstance(hint, type) and not get_args(hint):
        return code(hint.__name__)
    inner = next(iter(get_args(hint)), None)
    if NoneType in get_args(hint):
        return f"{type_text(inner)} · {code('None')}"
    if get_origin(inner) is Literal:
        return f"any of {type_text(inner)}"
    return code(re.sub(r"\w+\.(?=\w)", "", str(hint)))


def _sentence(documented: object) -> str:
    return " ".join((documented.__doc__ or "").replace("``", "`").split())


Node: TypeAlias = TyperCommand | TyperGroup


class Command(NamedTuple):
    """A command, or a group of commands, under the words that call it."""

    words: str
    node: Node


def iter_commands(node: Node | None = None, words: str = "sestet") -> Iterator[Command]:
    """The program and all of its commands, in the order of its help."""
    node = build_program() if node is None else node.load() if isinstance(node, LazyCommand) else node
    yield Command(words, node)
    if isinstance(node, TyperGroup):
        for name, child in node.commands.items():
            yield from iter_commands(cast("Node", child), f"{words} {name}")


def render_commands() -> str:
    return "\n\n".join(_render_command(command) for command in iter_commands() if not command.node.hidden)


def _render_command(command: Command) -> str:
    context = Context(command.node, info_name=command.words)
    usage = " ".join((command.words, *command.node.collect_usage_pieces(context)))
    text = [f"### {code(command.words)}", f"```text\n{usage}\n```", inspect.cleandoc(command.node.help or "")]
    records = (parameter.get_help_record(context) for parameter in command.node.params)
    rows = [(code(name), meaning) for name, meaning in filter(None, records)]
    if rows:
        text.append(render_table(("argument or option", "meaning"), rows))
    return "\n\n".join(filter(None, text))


def render_slash_commands() -> str:
    rows = [(code(command.usage), command.help) for command in COMMANDS.values()]
    return render_table(("in a conversation", "does"), rows)


def render_prompt() -> str:
    """Return the orchestrator's instruction with tools for everything that the plaques name."""
    specs = sestet.default_specs()
    prefixes = [prefix for spec in specs for prefix in spec.prefixes]
    named = dict.fromkeys((*prefixes, *(tool for spec in specs for tool in named_tools(spec))))
    defaults = Settings().agent
    config = sestet.OrchestrationConfig(
        tools=[sestet.Tool(name=f"{beginning}_example".replace("__", "_")) for beginning in named],
        system_prompt=defaults.system_prompt,
        max_delegation_rounds=defaults.max_delegation_rounds,
    )
    instruction = sestet.build_agent_tree(config).instruction
    head = f"{len(prefixes)} prefixes, {len(instruction):,} characters:"
    return f"{head}\n\n~~~~text\n{instruction}~~~~"


def render_exit_codes() -> str:
    rows = [(code(str(number.value)), meaning) for number, meaning in EXIT_CODES.items()]
    return render_table(("exit code", "meaning"), rows)


def render_endpoints() -> str:
    rows = [
        (
            each.method,
            code(each.path),
            ", ".join(code(scope) for scope in ("owner", *each.scopes)),
            each.summary,
        )
        for each in sorted(all_endpoints(), key=lambda each: each.path)
    ]
    return render_table(("method", "path", "scopes", "what it does"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "agents": render_agents,
    "commands": render_commands,
    "endpoints": render_endpoints,
    "events": render_events,
    "exit-codes": render_exit_codes,
    "orchestrator-prompt": render_prompt,
    "settings": render_settings,
    "slash-commands": render_slash_commands,
    "stamp": render_stamp,
    "tools": render_tools,
}


def fill_parts(page: str, text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a page with its generated parts brought up to date."""
    if text.count("<!-- generated:") != text.count("<!-- end -->"):
        raise ValueError(f"{page}: a generated part has no end, or an end has no beginning")

    def fill(match: re.Match[str]) -> str:
        if match["name"] not in parts:
            raise ValueError(f"{page}: there is no generated part {match['name']!r}")
        return f"{match[1]}\n{parts[match['name']]()}\n\n"

    return _PART.sub(fill, text)


def generate(root: Path = ROOT) -> dict[Path, str]:
    """Return each page with generated parts, brought up to date."""
    pages: dict[Path, str] = {}
    for path in sorted((root / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if "<!-- generated:" in text:
            pages[path.relative_to(root)] = fill_parts(path.name, text, PARTS)
    placed = {match["name"] for text in pages.values() for match in _PART.finditer(text)}
    if missing := PARTS.keys() - placed:
        raise ValueError(f"no page in docs has a place for: {', '.join(sorted(missing))}")
    return pages


def find_stale(pages: Mapping[Path, str], root: Path = ROOT) -> list[Path]:
    """Return the pages that differ from the files on disk."""
    return [page for page, text in pages.items() if _read(root / page) != text]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _generated_code() -> dict[Path, str]:
    return {SCHEMA: render_schema(), EVENT_TYPES: render_event_types()}


def main(arguments: Iterable[str]) -> int:
    check, stale = "--check" in arguments, list[Path]()
    # The schema first: the pages are generated with a database made from it.
    for make in (_generated_code, generate):
        pages = make()
        for page in find_stale(pages):
            stale.append(page)
            if check:
                print(f"{page}: is stale; run `make docs`", file=sys.stderr)
            else:
                (ROOT / page).write_text(pages[page], encoding="utf-8")
                print(f"{page}: written")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
