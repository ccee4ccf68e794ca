"""Between a call and its effect: the gate, standing answers, and a question to the person."""

import time
from typing import Literal

from sestet.core.event import ApprovalDecided, ApprovalRequested, ToolCalled
from sestet.core.label import CLEAN, Label
from sestet.core.message import ToolCall
from sestet.core.record import Values, record
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.runtime.gate import Policy, Verdict, asks_every_time, judge
from sestet.runtime.prompts import say, tell
from sestet.runtime.turn import AgentRun, Turn
from sestet.storage.approvals import ApprovalStore, Question


@record
class Clearance(Values):
    """``go``: run it. ``no``: tell the model why not. ``wait``: a person was asked."""

    decision: Literal["go", "no", "wait"]
    text: str = ""
    #: The same for the person.
    for_person: str = ""
    #: The approval that running the call will use up.
    approval_id: str = ""


GO = Clearance("go")


def refusal(prompt: str, **values: str) -> Clearance:
    """``no`` in the words of a prompt: to the model, and to the person."""
    return Clearance("no", say(prompt, **values), tell(prompt, **values))


@record
class Gatekeeper(Values):
    """Decides about calls with the owner's policy and the person's decisions."""

    approvals: ApprovalStore
    policy: Policy
    #: How long a question stays open.
    patience: float
    #: Of the cards that the orchestrator is shown, and through its requests everybody.
    cards: Label = CLEAN

    def clear(self, turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> Clearance:
        """Policy first: what it blocks, no approval unlocks."""
        verdict = self._judge(turn, run, tool, call)
        if verdict.decision == "allow":
            return GO
        if verdict.decision == "block":
            return refusal("blocked", tool=tool.name, reason=verdict.reason)
        question = self._question(turn, call)
        # The answer to this exact call comes before any standing one.
        if question is not None and question.state != "pending":
            return self._decided(turn, run, question, call)
        if self._is_granted(turn, run, tool, call):
            if question is not None:
                self.approvals.overtake(question.id)
            return GO
        if question is None:
            return self._ask(turn, run, call, verdict, grant_pattern(tool, call.arguments))
        if question.expires_at <= time.time():
            return refusal("nobody_answered", tool=call.name)
        turn.waiting_for.append(question.id)
        return Clearance("wait")

    def _judge(self, turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> Verdict:
        # The orchestrator calls nobody but agents that the owner has named, whatever their cards say.
        label = run.label if run.agent.tools is None else run.label | self.cards
        return judge(label, tool, call.arguments, turn.user_words, self.policy, run.agent.name)

    def _ask(
        self, turn: Turn, run: AgentRun, call: ToolCall, verdict: Verdict, pattern: JsonObject
    ) -> Clearance:
        if not turn.can_ask:
            return refusal("nobody_to_ask", tool=call.name, reason=verdict.reason)
        stamp = turn.stamp(run.agent.name, run.delegation_id)
        approval_id = f"{turn.id}-{call.id}"
        expires_at = time.time() + self.patience
        event = ApprovalRequested(stamp, approval_id, call, verdict.reason, verdict.sources, expires_at)
        turn.flush()
        self.approvals.ask(event, pattern)
        turn.show(event)
        turn.waiting_for.append(approval_id)
        return Clearance("wait")

    def _question(self, turn: Turn, call: ToolCall) -> Question | None:
        asked = turn.replay.questions.get(call.id)
        return self.approvals.get(asked.approval_id) if asked else None

    def _decided(self, turn: Turn, run: AgentRun, question: Question, call: ToolCall) -> Clearance:
        decision = "deny" if question.state == "denied" else "approve"
        stamp = turn.stamp("user", run.delegation_id)
        turn.record(ApprovalDecided(stamp, question.id, decision, question.scope))
        if decision == "deny":
            return refusal("denied", tool=call.name)
        return Clearance("go", approval_id=question.id)

    def may_repeat(self, turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> bool:
        """Whether a call that was cut off may run again: as it was allowed before, and without asking."""
        verdict = self._judge(turn, run, tool, call)
        if verdict.decision != "ask":
            return verdict.decision == "allow"
        question = self._question(turn, call)
        approved = question is not None and question.state == "used"
        return approved or self._is_granted(turn, run, tool, call)

    def _is_granted(self, turn: Turn, run: AgentRun, tool: Tool, call: ToolCall) -> bool:
        if asks_every_time(tool, run.agent.name, self.policy):
            return False
        pattern = grant_pattern(tool, call.arguments)
        return self.approvals.is_granted(turn.session_id, run.agent.name, call.name, pattern)

    def start(self, turn: Turn, run: AgentRun, tool: Tool, call: ToolCall, approval_id: str) -> bool:
        """Write the intent, and use up the approval with it; False when it is not good for this call."""
        intent = ToolCalled(turn.stamp(run.agent.name, run.delegation_id), call)
        if not approval_id:
            # What cannot be undone or asked about later must survive a power cut.
            turn.record(intent, sync=tool.effect == "money" or tool.recovery == "unsafe")
            return True
        turn.flush()
        if not self.approvals.use(approval_id, intent):
            return False
        turn.show(intent)
        return True


def grant_pattern(tool: Tool, arguments: JsonObject) -> JsonObject:
    """What a standing answer covers: these targets; without declared ones, an effect is this exact call."""
    if tool.targets:
        return {name: arguments[name] for name in tool.targets if name in arguments}
    return {} if tool.effect in ("none", "local") else arguments
