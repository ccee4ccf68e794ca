"""What the built-in model says itself: greetings, sums, frames for plans, and that it did not understand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool
from sestet.models.offline.matching import deed_of
from sestet.models.offline.parameters import cues_of
from sestet.models.offline.words import clauses_of, is_question, stems_of, trim_request

WHAT_I_AM = (
    "I am the small model built into Sestet: I recognise requests by their words and run the right "
    "specialist, but I cannot hold a real conversation. `sestet setup` finds a real one (a vendor's, or a "
    "local server such as Ollama); `agent.provider` and `agent.model` in `sestet.yaml` name it."
)
_HINT = "Say “help” to see what I can do."
_SMALL_TALK: tuple[tuple[str, str], ...] = (
    (
        r"(hi|hello|hey|hallo|good (morning|day|evening|afternoon)|greetings)( there| sestet)?",
        "Hello! {hint}",
    ),
    (
        r"(thanks|thank you|thx|cheers|great|nice|perfect|cool|well done)( a lot| very much| so much)?",
        "You are welcome.",
    ),
    (r"(ok|okay|yes|no|sure|fine|i see|got it|never ?mind)", "All right. {hint}"),
    (r"(bye|goodbye|good night|see you|ciao)( later| soon)?", "Goodbye!"),
    (r"how are you( doing)?( today)?", "All is well here, thank you. {hint}"),
    (
        r"(who|what)( exactly)? are you|what is your name|are you (an? )?(ai|llm|bot|real|human)( model)?"
        r"|what (model|llm) (are you|is this)|who (made|built) you"
        r"|how (do|can) i (set|use|get|choose|change|add) (an?|the|another|my) (\w+ )?(model|llm|api key)",
        "{what}",
    ),
    (
        r"help( me)?|what can (you|i) do( for me| here| with .*)?|what do you do|commands|how does this work",
        "{what}\n\n{help}",
    ),
)
_MOST_EXAMPLES = 4
_LONGEST_PHRASE = 200
WITHOUT_PAST = (
    "I do not see what was said before, so I cannot tell what is meant. Say all of it in one message."
)
_NO_ANSWER = "I have no answer to that: all I know is in your files, your memory and your knowledge base."


class Abilities(NamedTuple):
    """What the available specialists can do, in the words of their examples."""

    specs: Sequence[AgentSpec]
    tools: Mapping[str, Sequence[Tool]]

    def has(self, agent: str) -> bool:
        return agent in self.tools

    def overview(self) -> str:
        """A line for each specialist, with an example of each kind of work."""
        examples = {spec.name: spec.examples[:1] for spec in self.specs}
        lines: list[str] = []
        for agent, tools in self.tools.items():
            shown = [_example(tool) for tool in _various(tools)] or list(examples.get(agent, ()))
            if shown:
                lines.append(f"- {agent}: " + ", ".join(f"“{text}”" for text in shown))
        return _say_for_example(lines)

    def missing(self, agent: str, text: str) -> str:
        """A keyword of the agent's plaque that the request names and no tool here covers; empty: none."""
        known = {stem for tool in self.tools[agent] for stem in cues_of(tool)}
        keywords = next((spec.keywords for spec in self.specs if spec.name == agent), ())
        said = f" {' '.join(text.casefold().split())} "
        return next((k for k in keywords if f" {k} " in said and not stems_of(k) <= known), "")

    def plans(self, agent: str) -> bool:
        """Whether an agent's work is planning."""
        spec = next((spec for spec in self.specs if spec.name == agent), None)
        return spec is not None and any("plan" in keyword.split() for keyword in spec.keywords)

    def of(self, agent: str) -> str:
        return _say_for_example([f"- {_example(tool)}" for tool in self.tools[agent] if tool.examples])


class Conversation(NamedTuple):
    """One reply in a conversation: the abilities at hand, and the earlier replies."""

    abilities: Abilities
    said: Sequence[str] = ()
    #: Remembered facts that are about the message, a line for each.
    recalled: Sequence[str] = ()

    def small_talk(self, text: str) -> str:
        """The answer to a message that needs no specialist; empty for any other message."""
        if len(text) > _LONGEST_PHRASE:
            return ""
        # "Hello, who are you?" is a question without its courtesy, "hello" alone a greeting.
        for said in (text.strip(" .!?,"), trim_request(text)):
            if answer := self._phrase(said):
                return answer
        answers = [self._phrase(clause.text.strip(" .!?,")) for clause in clauses_of(text)]
        if all(answers):
            return answers[-1]
        return work_out(trim_request(text))

    def _phrase(self, said: str) -> str:
        for pattern, answer in _SMALL_TALK:
            if re.fullmatch(pattern, said, re.IGNORECASE):
                return answer.format(what=WHAT_I_AM, help=self.abilities.overview(), hint=_HINT)
        return ""

    def answer(self, text: str) -> str:
        """The answer to a message for no specialist. The long explanation of this model comes only once."""
        if answer := self.small_talk(text):
            return answer
        if self.recalled and is_question(text):
            return "\n".join(("On record is:", *self.recalled))
        if any(WHAT_I_AM in said for said in self.said):
            return f"{_NO_ANSWER} {_HINT}"
        return f"{_NO_ANSWER} {WHAT_I_AM}\n\n{self.abilities.overview()}"

    def not_understood(self, agent: str, text: str) -> str:
        """A specialist's answer when no tool fits the request."""
        deed = deed_of(text, self.abilities.tools[agent])
        why = (
            f"No tool of the {agent} here can {deed} anything."
            if deed
            else f"I could not tell what exactly the {agent} should do."
        )
        return f"{why} {self.abilities.of(agent)}".strip()

    def not_here(self, agent: str, ability: str) -> str:
        return f"No tool of the {agent} here can do that (“{ability}”). {self.abilities.of(agent)}".strip()

    def only_thinking(self) -> str:
        return f"This takes a real model: there is no tool for it, only thinking. {WHAT_I_AM}"

    def without_tools(self, agent: str) -> str:
        return f"That is work for the {agent}, who has no tools here, so I cannot do it."


def _various(tools: Sequence[Tool]) -> Sequence[Tool]:
    """A few tools of a specialist, of different kinds if it has many."""
    kinds = list({tool.name.partition("_")[0]: tool for tool in reversed(tools)}.values())
    return (kinds[::-1] if len(kinds) >= _MOST_EXAMPLES else tools)[:_MOST_EXAMPLES]


def _say_for_example(lines: Sequence[str]) -> str:
    return "You can say, for example:\n" + "\n".join(lines) if lines else ""


def _example(tool: Tool) -> str:
    return tool.examples[0].replace("{", "<").replace("}", ">") if tool.examples else tool.name


_ASKS_FOR_SUM = re.compile(
    r"(what is|what are|how much is|calculate|compute|work out)\s+|\s*=\s*$", re.IGNORECASE
)
_SPOKEN = (
    (r"(?<=\d)\s*(?:%|percent)\s+of\s+", "/100*"),
    (r"\s+plus\s+", "+"),
    (r"\s+minus\s+", "-"),
    (r"\s+times\s+|\s+multiplied by\s+|(?<=\d)\s*[x\u00d7]\s*(?=\d)", "*"),
    (r"\s+divided by\s+|\s+over\s+|\u00f7", "/"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[-+*/()])")
_DATE = re.compile(r"\d[-/]\d+[-/]\d")
_DIGITS = 6


def work_out(text: str) -> str:
    """The sum with its result; empty when the text is not a sum, such as "15% of 80" or "7 plus 5"."""
    asked = sum_ = _ASKS_FOR_SUM.sub("", text).strip()
    for pattern, sign in _SPOKEN:
        sum_ = re.sub(pattern, sign, sum_, flags=re.IGNORECASE)
    tokens = _TOKEN.findall(sum_)
    if _DATE.search(sum_) or "".join(tokens) != re.sub(r"\s", "", sum_) or len(tokens) < 3:
        return ""
    try:
        parser = _SumParser(iter(tokens))
        result = parser.terms()
    except (ZeroDivisionError, ValueError):
        return ""
    return f"{asked} = {_shown(result)}" if parser.next is None else ""


class _SumParser:
    """A recursive-descent parser: terms of factors; a factor is a number or terms in brackets."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.next = next(tokens, None)

    def terms(self) -> Fraction:
        total = self._factors()
        while self.next in ("+", "-"):
            sign = self._take()
            total = total + self._factors() if sign == "+" else total - self._factors()
        return total

    def _factors(self) -> Fraction:
        product = self._factor()
        while self.next in ("*", "/"):
            sign = self._take()
            product = product * self._factor() if sign == "*" else product / self._factor()
        return product

    def _factor(self) -> Fraction:
        sign = self._take()
        if sign == "-":
            return -self._factor()
        if sign != "(":
            return Fraction(sign)
        inner = self.terms()
        if self._take() != ")":
            raise ValueError("a bracket is not closed")
        return inner

    def _take(self) -> str:
        token, self.next = self.next, next(self._tokens, None)
        return token or ""


def _shown(number: Fraction) -> str:
    if number.denominator == 1:
        return f"{number.numerator:,}"
    return f"{float(number):,.{_DIGITS}f}".rstrip("0").rstrip(".")


_ASKS_FOR_PLAN = re.compile(
    r"(?:(?:make|write|draft|create|give|draw up|outline|sketch|prepare)\s+(?:me\s+|us\s+)?)?"
    r"(?:an?\s+|the\s+|my\s+|our\s+)?(?:\w+(?:-|\s)by(?:-|\s)\w+\s+|short\s+|simple\s+|rough\s+)?"
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
