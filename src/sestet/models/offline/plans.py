"""Turns a goal into a frame for a plan."""

import re

from sestet.models.offline.words import trim_request

_ASKS_FOR_PLAN = re.compile(
    r"(?:(?:make|write|draft|create|give|draw up|outline|sketch|prepare|suggest"
    r"|i'd like|i would like|i want|i need|we need)\s+(?:me\s+|us\s+)?)?"
    r"(?:an?\s+|the\s+|my\s+|our\s+)?(?:\w+(?:-|\s)by(?:-|\s)\w+\s+|[\w-]+\s+)?"
    r"(?:plan|roadmap|outline|checklist|schedule)\s+(?:for|to|of|on)\s+(?:how to\s+)?"
    r"|(?:plan|break down|outline):?\s+(?:for\s+)?"
    r"|how should (?:i|we) (?:approach|go about|start|organi[sz]e)\s+"
    r"|in (?:what|which) order should (?:i|we)\s+",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"\b((?:in|within|by|before|until|for less than|under|with)\s+(?:the\s+)?(?:(?:next|end of|about)\s+)*"
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|tomorrow|tonight|next|this)\b[\w\s.]*)$",
    re.IGNORECASE,
)
_BETWEEN_STEPS = re.compile(
    r"\s*(?:;|,\s*(?:and\s+|then\s+)*|\s+and\s+(?:then\s+)?|\s+then\s+)\s*", re.IGNORECASE
)
_FRAME = """\
Goal: {goal}{limit}

{steps}

This is only a frame: I am the small model built into Sestet and cannot think a plan through. A real \
model would name the steps, their order and the risks; `sestet setup` finds one, and `agent.provider` in \
`sestet.yaml` names it."""
_BEFORE = (
    "Write down how you will know that it is done.",
    "List what is already there and what is missing: time, money, people, facts.",
)
_LONGEST_GOAL = 500
_AFTER = "Look at the result together with the first point, and decide what is left."


def asks_for_plan(request: str) -> bool:
    """Whether a request without its courtesies plainly asks for a plan."""
    return _ASKS_FOR_PLAN.match(request) is not None


def sketch_plan(request: str) -> str:
    """A frame for a plan: the goal, its deadline, and the steps that the request names."""
    goal = _ASKS_FOR_PLAN.sub("", trim_request(request[:_LONGEST_GOAL]), count=1)
    found = _DEADLINE.search(goal)
    limit = f"\nLimit: {found[1]}" if found else ""
    goal = goal[: found.start()].strip(" ,") if found else goal
    named = [part for part in _BETWEEN_STEPS.split(goal) if part]
    own = (
        [f"{part[:1].upper()}{part[1:]}." for part in named]
        if len(named) > 1
        else ["Do the smallest part first."]
    )
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate((*_BEFORE, *own, _AFTER), 1))
    return _FRAME.format(goal=goal or request, limit=limit, steps=steps)
