"""The calls ``transfer_to_agent`` and ``reject_task``, and delegation to remote agents."""

from collections.abc import Sequence

from sestet.core.agent import REJECT_TASK, TRANSFER, Agent
from sestet.core.errors import ToolError
from sestet.core.label import remote_label
from sestet.core.message import ToolCall
from sestet.core.record import Record, replace
from sestet.core.schema import find_problems, object_schema
from sestet.core.tool import Tool
from sestet.runtime.approval import Gatekeeper
from sestet.runtime.prompts import say
from sestet.runtime.reply_text import rejection
from sestet.runtime.turn import AgentRun, Outcome, ToolStep

REJECT_TOOL = Tool(
    REJECT_TASK,
    "Decline a request that belongs to another specialist, before you use any tool.",
    object_schema(
        {
            "reason": {"type": "string", "description": "One sentence: why this is not yours"},
            "suggested_agent": {"type": "string", "description": "Which specialist fits, if you know"},
        },
        ["reason"],
    ),
)


#: A delegation to a remote agent as the gate sees it: a tool that sends the request away.
REMOTE_SINK = Tool(
    TRANSFER,
    parameters=object_schema({"agent_name": {"type": "string", "format": "text"}}),
    risk="guarded",
    effect="external",
    targets=("agent_name",),
    caution="the request would go to another machine",
)


class Transfer(Record):
    """A delegation that passed every check."""

    call: ToolCall
    agent: Agent
    request: str
    reply: bool
    #: Which round of the turn it is.
    number: int


class Refusal(Record):
    """Why a delegation is refused, for the orchestrator. ``mistake``: the model's call itself was wrong."""

    text: str
    mistake: bool = False


def transfer_tool(agents: Sequence[Agent]) -> Tool:
    """The orchestrator's only call; its schema admits only names of existing agents."""
    return Tool(
        TRANSFER,
        "Give a task to a specialist and get its result back.",
        object_schema(
            {
                "agent_name": {"type": "string", "enum": [agent.name for agent in agents]},
                "request": {
                    "type": "string",
                    "description": "The whole task; the specialist sees nothing else",
                },
                "reply": {
                    "type": "boolean",
                    "description": "True: its answer goes to the person as it is",
                    "default": False,
                },
            },
            ["agent_name", "request"],
        ),
    )


def offered_tools(agent: Agent, root: Agent, transfer: Tool) -> tuple[Tool, ...]:
    """What an agent can call: the orchestrator only delegates, a specialist may also reject a request."""
    if agent.tools is None:
        return (transfer,)
    return agent.tools if agent is root else (*agent.tools, REJECT_TOOL)


def read_transfer(run: AgentRun, tool: Tool, call: ToolCall) -> Transfer | Refusal:
    """Check a call of ``transfer_to_agent`` by the orchestrator; a good one uses up a round."""
    turn, root = run.turn, run.agent
    name = call.arguments.get("agent_name")
    agent = root.sub_agent(name) if isinstance(name, str) else None
    if agent is None:
        names = ", ".join(agent.name for agent in root.sub_agents)
        shown = name if isinstance(name, str) else ""
        return Refusal(say("wrong_name", name=shown, names=names), mistake=True)
    # The name may be spelt differently; the other arguments must fit the schema.
    arguments = {**call.arguments, "agent_name": agent.name}
    if problems := find_problems(tool.parameters, arguments):
        told = "; ".join(f"{problem.where} {problem.message}" for problem in problems)
        return Refusal(say("bad_arguments", tool=TRANSFER, problems=told), mistake=True)
    request = str(arguments["request"]).strip()
    if not request:
        return Refusal(say("empty_request"), mistake=True)
    if agent.name in turn.struck_off:
        left = [other for other in root.sub_agents if other.name not in turn.struck_off]
        return Refusal(say("struck_off", agent=agent.name) if left else say("nobody_left"))
    if turn.rounds >= turn.limits.rounds:
        return Refusal(say("rounds_used_up", rounds=str(turn.limits.rounds)))
    turn.rounds += 1
    call = ToolCall(call.name, arguments, call.id)
    return Transfer(call, agent, request, arguments.get("reply") is True, turn.rounds)


def may_delegate(run: AgentRun) -> bool:
    """Whether rounds are left, and an agent that has not rejected a request in this turn."""
    turn, agents = run.turn, run.agent.sub_agents
    return turn.rounds < turn.limits.rounds and any(agent.name not in turn.struck_off for agent in agents)


def result_for_orchestrator(outcome: Outcome, agent: str) -> str:
    """A specialist's result as the orchestrator reads it."""
    if outcome.kind == "ok":
        return outcome.text
    head = say("delegation_result", agent=agent, outcome=outcome.kind, cause=outcome.cause)
    return f"{head}\n\n{outcome.text}".strip()


def answer_invented_call(root: Agent, tool_name: str) -> str:
    """The answer to a tool call by the orchestrator, which has no tools: it names the tool's owner."""
    owner = next((a.name for a in root.sub_agents if any(t.name == tool_name for t in a.tools or ())), None)
    whose = say("belongs_to", agent=owner) if owner else say("belongs_to_nobody")
    return say("no_tools", tool=tool_name, owner=whose)


async def ask_remote(parent: AgentRun, run: AgentRun, transfer: Transfer, gatekeeper: Gatekeeper) -> Outcome:
    """Send the request, and nothing else, if the gate allows it. The answer is untrusted."""
    turn, agent = run.turn, transfer.agent
    assert agent.remote is not None  # the caller checks this
    sink = replace(REMOTE_SINK, name=f"remote_{agent.name}")
    if gatekeeper.trusts(sink.name, agent.name):
        sink = replace(sink, risk="safe", caution="")
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
