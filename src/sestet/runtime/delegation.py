"""The calls ``transfer_to_agent`` and ``reject_task``, and delegation to remote agents."""

from collections.abc import Sequence

from sestet.core.agent import REJECT_TASK, TRANSFER, Agent
from sestet.core.errors import InDoubtError, PersonError, ToolError
from sestet.core.event import DelegationStarted, OutcomeKind
from sestet.core.label import remote_label
from sestet.core.message import ToolCall
from sestet.core.record import Record, replace
from sestet.core.schema import find_problems, object_schema
from sestet.core.tool import Tool
from sestet.core.words import ended
from sestet.runtime.approval import Gatekeeper, refusal
from sestet.runtime.direct_answer import SHOW_TOOL
from sestet.runtime.doubt import settle_intent
from sestet.runtime.model_call import show_piece
from sestet.runtime.prompts import say, tell
from sestet.runtime.reply_text import rejection
from sestet.runtime.tool_step import ToolStep
from sestet.runtime.turn import AgentRun, Outcome

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
    standing="send ANY request to {agent_name}, on another machine,",
)


class Transfer(Record):
    """A delegation that passed every check."""

    call: ToolCall
    agent: Agent
    request: str
    reply: bool
    #: Which round of the turn it is.
    number: int
    #: The agent was there before the turn was resumed, and is not any more.
    is_gone: bool = False


class Refusal(Record):
    """Why a call of the orchestrator is refused."""

    #: For the orchestrator, with what it should do instead.
    text: str
    #: For the person: the bare reason.
    for_person: str
    #: The outcome of a turn that ends on it.
    outcome: OutcomeKind = "failed"


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
    """What an agent can call: the orchestrator only delegates.

    A specialist may also reject a request and, if it has tools, show their results.
    """
    if agent.tools is None:
        return (transfer,)
    if agent is root:
        return agent.tools
    return (*agent.tools, SHOW_TOOL, REJECT_TOOL) if agent.tools else (REJECT_TOOL,)


def read_transfer(run: AgentRun, tool: Tool, call: ToolCall) -> Transfer | Refusal:
    """Check a call of ``transfer_to_agent`` by the orchestrator; a good one uses up a round."""
    turn, root = run.turn, run.agent
    if (past := turn.replay.delegations.get(call.id)) is not None:
        return _same_transfer(run, call, past)
    name = call.arguments.get("agent_name")
    agent = root.sub_agent(name) if isinstance(name, str) else None
    if agent is None:
        names = ", ".join(agent.name for agent in root.sub_agents)
        shown = name if isinstance(name, str) else ""
        return _refusal("wrong_name", name=shown, names=names)
    # The name may be spelt differently; the other arguments must fit the schema.
    arguments = {**call.arguments, "agent_name": agent.name}
    if problems := find_problems(tool.parameters, arguments):
        told = "; ".join(f"{problem.where} {problem.message}" for problem in problems)
        return _refusal("bad_arguments", tool=TRANSFER, problems=told)
    request = str(arguments["request"]).strip()
    if not request:
        return _refusal("empty_request")
    if (end := end_of_delegating(run)) is not None:
        return end
    if agent.name in turn.struck_off:
        return _refusal("struck_off", agent=agent.name)
    turn.rounds += 1
    call = ToolCall(call.name, arguments, call.id)
    return Transfer(call, agent, request, arguments.get("reply") is True, turn.rounds)


def end_of_delegating(run: AgentRun) -> Refusal | None:
    """The answer to every further call, once all agents have declined or the rounds are used up."""
    turn = run.turn
    if all(agent.name in turn.struck_off for agent in run.agent.sub_agents):
        return replace(_refusal("nobody_left"), outcome="rejected")
    if turn.rounds >= turn.limits.rounds:
        return replace(_refusal("rounds_used_up", rounds=str(turn.limits.rounds)), outcome="over_budget")
    return None


def _refusal(file: str, /, **values: str) -> Refusal:
    return Refusal(say(file, **values), tell(file, **values))


def findings(root: str, end: Refusal, results: Sequence[Outcome]) -> Outcome:
    """The end of a turn whose orchestrator does not answer: code tells what its specialists found."""
    why = end.for_person.rstrip(".")
    found = [f"From {result.author}:\n\n{result.text}" for result in results if result.kind == "ok"]
    if not found:
        return Outcome(end.outcome, root, cause=why)
    head = f"This turn ended before an answer was written: {ended(why)} This is what the specialists found."
    without = ", ".join(f"{result.author} ({result.kind})" for result in results if result.kind != "ok")
    parts = [head, *found, f"No result from {without}."] if without else [head, *found]
    return Outcome("ok", root, "\n\n".join(parts), why)


def require_agent(root: Agent, name: str) -> str:
    """The name of the specialist that a person chose, as it is written; an empty name stays empty."""
    agent = root.sub_agent(name) if name else None
    if name and agent is None:
        names = ", ".join(agent.name for agent in root.sub_agents)
        told = f"the specialists are: {names}" if names else "this assistant has none"
        raise PersonError(f"there is no specialist '{name[:80]}'; {told}")
    return agent.name if agent else ""


def without_answer(run: AgentRun) -> Outcome:
    """The end of a turn whose specialist, which the person chose, did not answer."""
    name = run.turn.agent
    if not run.results:
        names = ", ".join(agent.name for agent in run.agent.sub_agents)
        return Outcome("failed", run.agent.name, cause=f"there is no specialist '{name}'; there are: {names}")
    result = run.results[-1]
    cause = result.for_person or result.cause
    if result.kind == "rejected":
        told = f"{name} declined: {cause.rstrip('.')}" if cause else f"{name} declined"
        cause = f"{told}. Ask without choosing a specialist, and the right one is found"
    return result._replace(author=run.agent.name, cause=cause)


def _same_transfer(run: AgentRun, call: ToolCall, past: DelegationStarted) -> Transfer:
    """A delegation from before the turn was resumed keeps its place, whatever has changed since."""
    run.turn.rounds = past.round
    agent = next((agent for agent in run.agent.sub_agents if agent.name == past.agent), None)
    call = ToolCall(call.name, {**call.arguments, "agent_name": past.agent}, call.id)
    return Transfer(
        call, agent or Agent(past.agent), past.request, past.reply, past.round, is_gone=agent is None
    )


def result_for_orchestrator(outcome: Outcome, agent: str) -> str:
    """A specialist's result as the orchestrator reads it."""
    if outcome.kind == "ok":
        return outcome.text
    head = say("delegation_result", agent=agent, outcome=outcome.kind, cause=outcome.cause)
    return f"{head}\n\n{outcome.text}".strip()


def refuse_invented_call(root: Agent, tool_name: str) -> Refusal:
    """The answer to a tool call by the orchestrator, which has no tools: it names the tool's owner."""
    owner = next((a.name for a in root.sub_agents if any(t.name == tool_name for t in a.tools or ())), None)
    whose = say("belongs_to", agent=owner) if owner else say("belongs_to_nobody")
    return _refusal("no_tools", tool=tool_name, owner=whose)


async def ask_remote(parent: AgentRun, run: AgentRun, transfer: Transfer, gatekeeper: Gatekeeper) -> Outcome:
    """Send the request, and nothing else, if the gate allows it. The answer is untrusted."""
    turn, agent = run.turn, transfer.agent
    assert agent.remote is not None  # the caller checks this
    sink = replace(REMOTE_SINK, name=f"remote_{agent.name}")
    if gatekeeper.trusts(sink.name, agent.name):
        sink = replace(sink, risk="safe", caution="")
    # The orchestrator wrote the request, so the gate judges by what the orchestrator has read.
    step = ToolStep(parent, sink, transfer.call)
    clearance = await gatekeeper.clear(step)
    if clearance.decision != "go":
        waits = clearance.decision == "wait"
        kind = "paused" if waits else "failed"
        return Outcome(
            kind, agent.name, cause=clearance.text, for_person=clearance.for_person, denied=not waits
        )
    # The remote agent may act on the request, so an intent is written, as before any effect.
    if not await gatekeeper.start(step._replace(run=run), clearance):
        late = refusal("nobody_answered", tool=sink.name)
        return Outcome("failed", agent.name, cause=late.text, for_person=late.for_person, denied=True)
    await settle_intent(run, transfer.call)
    run.label |= remote_label(agent.name)
    try:
        text = await agent.remote.ask(transfer.request, lambda piece: show_piece(run, piece))
    except InDoubtError as error:
        return Outcome("failed", agent.name, cause=str(error))
    except ToolError as error:
        turn.open.pop(transfer.call.id, None)
        return Outcome("failed", agent.name, cause=str(error))
    turn.open.pop(transfer.call.id, None)
    if (declined := rejection(text)) is not None:
        return Outcome("rejected", agent.name, cause=declined)
    if not text.strip():
        return Outcome("empty", agent.name, cause=f"{agent.name} gave no answer")
    return Outcome("ok", agent.name, text)
