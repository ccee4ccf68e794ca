"""Between a call and its effect: the gate, standing answers, and a question to the person."""

import time
from typing import Literal

from sestet.core.effects import shown_targets
from sestet.core.event import ApprovalDecided, ApprovalRequested, ToolCalled
from sestet.core.record import Record
from sestet.core.schema import JsonObject
from sestet.core.tool import Tool
from sestet.runtime.gate import Policy, Verdict, asks_every_time, is_allowed, judge, judge_for_caller
from sestet.runtime.prompts import say, tell
from sestet.runtime.tool_step import ToolStep
from sestet.storage.approvals import Basis, Question
from sestet.storage.turn_log import Approvals


class Clearance(Record):
    """``go``: run the call. ``no``: tell the model why not. ``wait``: a person was asked."""

    decision: Literal["go", "no", "wait"]
    text: str = ""
    #: The same for the person, without instructions for a model.
    for_person: str = ""
    #: The approval that running the call uses up.
    approval_id: str = ""
    #: The question is still open: a standing answer is enough, and closes it.
    overtakes: bool = False


GO = Clearance("go")


def refusal(prompt: str, **values: str) -> Clearance:
    """A ``no`` in the words of a prompt file: one text for the model, one for the person."""
    return Clearance("no", say(prompt, **values), tell(prompt, **values))


class Gatekeeper(Record):
    """Decides about calls by the owner's policy and the person's decisions."""

    approvals: Approvals
    policy: Policy
    #: How many seconds a question stays open.
    patience: float

    async def clear(self, step: ToolStep) -> Clearance:
        """Policy comes first: no approval unlocks a call that policy blocks."""
        turn, tool = step.run.turn, step.tool
        verdict = self._judge(step)
        if verdict.decision == "allow":
            return GO
        if verdict.decision == "block":
            return refusal("blocked", tool=tool.name, reason=verdict.reason)
        question = await self._question(step)
        # The answer to this exact call comes before any standing one.
        if question is not None and question.state != "pending":
            return self._decided(step, question)
        if await self._is_granted(step, verdict):
            return Clearance("go", approval_id=question.id, overtakes=True) if question else GO
        if question is None:
            return await self._ask(step, verdict)
        if question.expires_at <= time.time():
            return refusal("nobody_answered", tool=tool.name)
        turn.waiting_for.append(question.id)
        return Clearance("wait")

    def _judge(self, step: ToolStep) -> Verdict:
        run, tool, call = step.run, step.tool, step.call
        label = run.label
        # The person's words matter only for an effect, and only if something else has been read.
        needs_words = tool.effect in ("local", "external", "money") and (label.untrusted or label.private)
        words = run.turn.user_words if needs_words else ""
        verdict = judge(label, tool, call.arguments, words, self.policy, run.agent.name)
        caller = run.turn.caller
        return judge_for_caller(verdict, tool, caller, label, self.policy) if caller else verdict

    def trusts(self, tool: str, target: str) -> bool:
        """Whether the owner's policy trusts this target of this tool."""
        return is_allowed(tool, target, self.policy)

    async def _ask(self, step: ToolStep, verdict: Verdict) -> Clearance:
        run, call, turn = step.run, step.call, step.run.turn
        if not turn.can_ask:
            return refusal("nobody_to_ask", tool=call.name, reason=verdict.reason)
        basis = self._basis(step, verdict)
        expires_at = time.time() + self.patience
        facts = (f"{turn.id}-{call.id}", call, verdict.reason, verdict.sources, expires_at, step.changes)
        await turn.record_with(
            lambda: ApprovalRequested(run.stamp(), *facts), lambda event: self.approvals.ask(event, basis)
        )
        turn.waiting_for.append(facts[0])
        return Clearance("wait")

    async def _question(self, step: ToolStep) -> Question | None:
        asked = step.run.turn.replay.questions.get(step.call.id)
        return await self.approvals.get(asked.approval_id) if asked else None

    def _decided(self, step: ToolStep, question: Question) -> Clearance:
        turn = step.run.turn
        decision = "deny" if question.state == "denied" else "approve"
        stamp = turn.stamp("user", step.run.delegation_id)
        turn.record(ApprovalDecided(stamp, question.id, decision, question.scope))
        if decision == "deny":
            return refusal("denied", tool=step.call.name)
        return Clearance("go", approval_id=question.id)

    async def may_repeat(self, step: ToolStep) -> bool:
        """Whether a call that a crash cut off may run again without a new question."""
        verdict = self._judge(step)
        if verdict.decision != "ask":
            return verdict.decision == "allow"
        question = await self._question(step)
        approved = question is not None and question.state == "used"
        return approved or await self._is_granted(step, verdict)

    async def _is_granted(self, step: ToolStep, verdict: Verdict) -> bool:
        run, tool, call = step.run, step.tool, step.call
        if run.turn.caller or asks_every_time(tool, run.agent.name, self.policy):
            return False
        basis = self._basis(step, verdict)
        return await self.approvals.is_granted(run.turn.session_id, run.agent.name, call.name, basis)

    def _basis(self, step: ToolStep, verdict: Verdict) -> Basis:
        """What a standing answer to this question would be bound to."""
        label = step.run.label
        pattern = grant_pattern(step.tool, step.call.arguments)
        return Basis(pattern, verdict.why, label.untrusted, label.private)

    async def start(self, step: ToolStep, clearance: Clearance) -> bool:
        """Write the intent and use up its approval; False when the approval is not for this call."""
        run, tool, call, turn = step.run, step.tool, step.call, step.run.turn
        targets = () if tool.effect == "none" else shown_targets(tool, call.arguments)
        changes = None if call.id in turn.replay.questions else step.changes

        def make() -> ToolCalled:
            return ToolCalled(run.stamp(), call, tool.effect, targets, tool.recovery, changes)

        if clearance.approval_id:
            use = self.approvals.overtake if clearance.overtakes else self.approvals.use
            intent = await turn.record_with(make, lambda intent: use(clearance.approval_id, intent))
            if intent is None:
                return False
        else:
            intent = make()
            # The record of an effect that can be neither repeated nor probed must survive a power cut.
            turn.record(intent, sync=tool.effect == "money" or tool.recovery == "unsafe")
        turn.open[call.id] = intent
        return True


def grant_pattern(tool: Tool, arguments: JsonObject) -> JsonObject:
    """What a standing answer covers: these targets; for a tool without targets, these exact arguments."""
    if tool.targets:
        return {name: arguments[name] for name in (*tool.targets, *tool.binds) if name in arguments}
    return arguments
