"""What a standing answer would cover, in words: every surface that offers one shows them."""

import json
from typing import cast

from sestet.core.clean import reveal
from sestet.core.schema import JsonObject, JsonValue
from sestet.core.tool import SLOT, Tool
from sestet.services.approvals import Grant, Question, targets_of


def allowed(question: Question, tool: Tool) -> str:
    """What a standing answer would let the agent do: in the tool's own words, or by its arguments."""
    bound = targets_of(question)
    if tool.standing and bound.keys() >= set(SLOT.findall(tool.standing)):
        does = SLOT.sub(lambda slot: as_json(bound[slot[1]]), reveal(tool.standing))
        does += "".join(f", with {name}={as_json(bound[name])}," for name in tool.binds if name in bound)
    else:
        does = f"call {tool.name} {_calls_covered(question, tool)}"
    return f"{does} without asking"


def _calls_covered(question: Question, tool: Tool) -> str:
    if not tool.targets:
        # Every argument counts as a target.
        return f"with exactly {targets_text(question) or 'no arguments'}"
    bound = targets_text(question)
    arguments = cast("JsonObject", tool.parameters.get("properties", {}))
    left_out = " and ".join(name for name in tool.targets if name not in targets_of(question))
    free = " and ".join(name for name in arguments if name not in (*tool.targets, *tool.binds))
    parts = (bound and f"with {bound}", left_out and f"without {left_out}", free and f"with ANY {free}")
    return ", ".join(filter(None, parts))


def not_covered(answered: Question | Grant) -> str:
    """The calls that a standing answer does not cover, because an agent has read more."""
    kinds = (("untrusted", answered.untrusted), ("private", answered.private))
    unread = " or ".join(kind for kind, was_read in kinds if not was_read)
    return f"calls after {unread} text was read" if unread else ""


def targets_text(answered: Question | Grant) -> str:
    """The arguments that a standing answer is bound to."""
    return ", ".join(f"{reveal(name)}={as_json(value)}" for name, value in targets_of(answered).items())


def as_json(value: JsonValue) -> str:
    """A value as JSON; invisible characters are written out."""
    if isinstance(value, str):
        return json.dumps(reveal(value), ensure_ascii=False)
    return reveal(json.dumps(value, ensure_ascii=False))
