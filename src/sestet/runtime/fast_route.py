"""The first delegation of a turn without a model: made by code where it is sure whose work the message is.

It takes the place of the first reply of a model, and of nothing else: the same rounds, guards and labels.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sestet.core.agent import TRANSFER, Agent
from sestet.core.event import RequestRouted
from sestet.core.message import Message, ToolCall
from sestet.runtime.turn import AgentRun, Turn

#: How a message begins that goes on with an earlier one, and what in it can stand for something said before.
_CONTINUES = re.compile(
    r"(and|or|but|so|also|then|no|yes|ok|okay|sure|(what|how) about|go on|continue)\b", re.IGNORECASE
)
_POINTS_BACK = re.compile(
    r"\b(it|its|this|these|those|they|them|their|he|him|his|she|her|hers|same|again|another|other|others"
    r"|one|ones|there|instead|above|previous|earlier|former|latter|first|second|last|both|either|neither"
    # "Remember that I like tea" points at nothing; "remember that" does.
    r"|that(?!\s+(i|i'm|i've|my|we|we're|our|the|an?)\b))\b",
    re.IGNORECASE,
)
_SHORTEST_WHOLE_REQUEST = 3
#: Variants of the router that were sure and wrong in at most 1 % of the routing set; a test holds that.
MEASURED = frozenset({"words", "words+encoder"})


class Route(Protocol):
    """A router's opinion: who should do it, and whether that is certain enough to act on."""

    @property
    def agent(self) -> str: ...

    @property
    def confidence(self) -> float: ...

    @property
    def sure(self) -> bool: ...


class Router(Protocol):
    """Tells whose work a request is, and of how many parts it consists."""

    @property
    def variant(self) -> str: ...

    def route(self, request: str) -> Route: ...

    def split(self, request: str) -> Sequence[object]: ...


class FastRoute(NamedTuple):
    """When the router's word is enough."""

    open_router: Callable[[], Router]
    #: Only with a variant whose figures justify it.
    only_measured: bool = False

    async def choose(self, root: Agent, text: str, past: Sequence[Message]) -> Route | None:
        """The route that may be taken without a model; None: the model has to decide."""
        if not root.sub_agents or needs_past(text, past):
            return None
        # It may load its weights now, and others are not to wait for that.
        route = await asyncio.to_thread(self._sure_route, text)
        agent = next((a for a in root.sub_agents if route and a.name == route.agent), None)
        # What leaves this machine is never decided on by a likeness of words.
        return route if agent is not None and agent.remote is None else None

    def _sure_route(self, text: str) -> Route | None:
        router = self.open_router()
        if self.only_measured and router.variant not in MEASURED:
            return None
        route = router.route(text)
        return route if route.sure and len(router.split(text)) == 1 else None


async def routed_call(turn: Turn, run: AgentRun, fast_route: FastRoute | None) -> ToolCall | None:
    """The delegation that code decided on. A turn that goes on takes the decision from its journal."""
    routed = turn.replay.routed
    if routed is None:
        # The root's first reply is on record: the model has decided.
        if fast_route is None or "" in turn.replay.replies:
            return None
        route = await fast_route.choose(run.agent, turn.text, run.messages[: run.past])
        if route is None:
            return None
        routed = RequestRouted(turn.stamp(run.agent.name), route.agent, route.confidence)
        turn.record(routed)
    arguments = {"agent_name": routed.agent, "request": turn.text, "reply": True}
    return ToolCall(TRANSFER, arguments, run.new_call_id())


def needs_past(text: str, past: Sequence[Message]) -> bool:
    """Whether a message may mean something only after what was said before; in doubt it does."""
    if not past:
        return False
    text = text.strip()
    if past[-1].text.rstrip().endswith("?") or len(text.split()) < _SHORTEST_WHOLE_REQUEST:
        return True
    return _CONTINUES.match(text) is not None or _POINTS_BACK.search(text) is not None
