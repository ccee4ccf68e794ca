"""A delegation to another machine: an external sink for the request, an untrusted source of the answer."""

from sestet.core.errors import ToolError
from sestet.core.label import remote_label
from sestet.core.schema import object_schema
from sestet.core.tool import Tool
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.delegation import Transfer
from sestet.runtime.prompts import say
from sestet.runtime.reply_text import rejection
from sestet.runtime.turn import AgentRun, Outcome, ToolStep


async def ask_remote(parent: AgentRun, run: AgentRun, transfer: Transfer, gatekeeper: Gatekeeper) -> Outcome:
    """Send the request, and nothing else, if the gate allows it."""
    turn, agent = run.turn, transfer.agent
    assert agent.remote is not None  # the caller checks this
    sink = Tool(
        f"remote_{agent.name}",
        parameters=object_schema({"agent_name": {"type": "string"}}),
        risk="safe",
        effect="external",
        targets=("agent_name",),
    )
    if transfer.call.id in turn.replay.intents:
        return Outcome("failed", agent.name, cause=say("in_doubt", tool=sink.name))
    # The orchestrator wrote the request, so the gate judges by what the orchestrator has read.
    step = ToolStep(parent, sink, transfer.call)
    clearance = gatekeeper.clear(step)
    if clearance.decision != "go":
        kind = "paused" if clearance.decision == "wait" else "failed"
        return Outcome(kind, agent.name, cause=clearance.text)
    # The remote agent may act on the request, so an intent is written, as before any effect.
    if not gatekeeper.start(step._replace(run=run), clearance.approval_id):
        return Outcome("failed", agent.name, cause=say("nobody_answered", tool=sink.name))
    await turn.settle()
    run.label |= remote_label(agent.name)
    try:
        text = await agent.remote.ask(transfer.request)
    except ToolError as error:
        return Outcome("failed", agent.name, cause=str(error))
    if (declined := rejection(text)) is not None:
        return Outcome("rejected", agent.name, cause=declined)
    if not text.strip():
        return Outcome("empty", agent.name, cause=f"{agent.name} gave no answer")
    return Outcome("ok", agent.name, text)
