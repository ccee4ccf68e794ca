"""One tool call on its way."""

from typing import NamedTuple

from sestet.core.message import ToolCall
from sestet.core.preview import Changes
from sestet.core.tool import Tool
from sestet.runtime.turn import AgentRun


class ToolStep(NamedTuple):
    """One tool call on its way from the model to the tool: every check gets it."""

    run: AgentRun
    tool: Tool
    call: ToolCall
    #: What the call would change, if its tool can tell that.
    changes: Changes | None = None
