"""Explains mistakes in settings: where a key belongs, how a value is written, which names exist."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sestet.config.vendors import LOCAL, OFFLINE, SCRIPTED
from sestet.core.schema import JsonObject, JsonValue, Problem, suggest

#: The prefix of the environment variables that override settings.
PREFIX = "SESTET_"
#: How many members of a section its example shows, and the longest value that is shown.
_SHOWN_MEMBERS, _SHOWN_VALUE = 2, 20


def explain_problem(problem: Problem, schema: JsonObject, values: JsonObject) -> str:
    """The message of a problem: with the section that has such a key, or with the right form of the value."""
    if problem.is_unknown_name:
        return _elsewhere(problem, schema) or problem.message
    if not problem.is_wrong_type or not problem.path:
        return problem.message
    wanted = member_schema(schema, problem.path)
    is_simple = wanted.get("type") not in ("object", "array")
    if is_simple and not isinstance(_value_at(values, problem.path), (Mapping, list)):
        return problem.message
    *_, name = problem.path
    # An item of a list has no name to write before it.
    key = "" if name.isdecimal() else f"{name}: "
    return f"{problem.message}; write it as {key}{_form(wanted)}"


def explain_variable(variable: str, schema: JsonObject) -> str:
    """The message for an environment variable that is no setting; it guesses only what is nearly certain."""
    known = list(_variables(schema))
    parts = variable.removeprefix(PREFIX).split("__")
    same = [name for name in known if name.replace("_", "") == variable.replace("_", "")]
    near = [] if same or len(parts) < 2 else [name for name in known if _is_typing_error(parts, name)]
    if len(same + near) == 1:
        return f"is not a setting; did you mean {(same + near)[0]!r}?"
    return f"is not a setting; unset it, or name one as in {PREFIX}AGENT__MODEL for agent.model"


def find_unknown_providers(values: JsonValue) -> Iterator[Problem]:
    """The settings that name a provider which is neither under ``providers`` nor comes with Sestet."""
    if not isinstance(values, Mapping):
        # A program passed something else as settings.
        return
    providers = values.get("providers", {})
    if not isinstance(providers, Mapping):
        # Its own problem is reported, and its names cannot be known.
        return
    known = [*map(str, providers), OFFLINE, LOCAL, SCRIPTED]
    for path, name in _named_providers(values):
        if name and name not in known:
            yield Problem(path, f"{name!r} is not under providers{suggest(name, known)}")


def _named_providers(values: JsonObject) -> Iterator[tuple[tuple[str, ...], str]]:
    agent, agents = values.get("agent"), values.get("agents")
    sections = {("agent",): agent}
    if isinstance(agents, Mapping):
        sections |= {("agents", str(name)): section for name, section in agents.items()}
    for path, section in sections.items():
        provider = section.get("provider") if isinstance(section, Mapping) else None
        if isinstance(provider, str):
            yield (*path, "provider"), provider
    fallback = agent.get("fallback") if isinstance(agent, Mapping) else None
    for index, model in enumerate(fallback if isinstance(fallback, list) else ()):
        if isinstance(model, str):
            yield ("agent", "fallback", str(index)), model.strip().partition("/")[0]


def _elsewhere(problem: Problem, schema: JsonObject) -> str:
    """The section that has a key of this name, as a message; empty if there is none."""
    leaf = problem.path[-1].lower()
    for section, member in _properties(schema).items():
        for name in _properties(member):
            if name.lower() == leaf and problem.path[:-1] != (section,):
                return f"is not known here; did you mean '{section}.{name}'?"
    return ""


def _is_typing_error(parts: Sequence[str], known: str) -> bool:
    """Whether the sections and the key of a variable differ from a known one in a letter or two."""
    others = known.removeprefix(PREFIX).split("__")
    return len(parts) == len(others) and all(
        part == other or (len(other) > 3 and bool(suggest(part, [other], cutoff=0.8)))
        for part, other in zip(parts, others, strict=True)
    )


def _variables(schema: JsonObject, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, member in _properties(schema).items():
        if "properties" in member:
            yield from _variables(member, (*path, name))
        else:
            yield PREFIX + "__".join((*path, name)).upper()


def _form(schema: JsonObject) -> str:
    """An example of a value, in one line of YAML."""
    if properties := _properties(schema):
        required = [str(name) for name in cast("Sequence[JsonValue]", schema.get("required", ()))]
        names = (required or [name for name in properties if _form(properties[name]) != "…"])[:_SHOWN_MEMBERS]
        more = ["…"] if len(properties) > len(names) else []
        return f"{{{', '.join([*(f'{name}: {_form(properties[name])}' for name in names), *more])}}}"
    if isinstance(members := schema.get("additionalProperties"), Mapping):
        return f"{{NAME: {_form(members)}}}"
    if isinstance(items := schema.get("items"), Mapping):
        return f"[{_form(items)}, …]"
    text = json.dumps(default) if (default := schema.get("default")) not in (None, "") else ""
    return text if 0 < len(text) <= _SHOWN_VALUE else "…"


def _properties(schema: JsonObject) -> Mapping[str, JsonObject]:
    return cast("Mapping[str, JsonObject]", schema.get("properties", {}))


def below(schema: JsonObject, name: str) -> JsonObject:
    """The schema of one member; an empty schema if the member is not known."""
    other = schema.get("items", schema.get("additionalProperties"))
    return _properties(schema).get(name, other if isinstance(other, Mapping) else {})


def member_schema(schema: JsonObject, key: Sequence[str]) -> JsonObject:
    """The schema of the value under a key; an empty schema if the key is not known."""
    for name in key:
        schema = below(schema, name)
    return schema


def _value_at(values: JsonValue, path: Sequence[str]) -> JsonValue:
    for name in path:
        if isinstance(values, Mapping):
            values = values.get(name)
        elif isinstance(values, list) and name.isdecimal():
            values = values[int(name)]
        else:
            return None
    return values
