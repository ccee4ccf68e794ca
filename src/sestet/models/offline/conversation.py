"""What the built-in model says of itself: what it can do, and what it cannot."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.core.tool import Tool
from sestet.models.offline.answering import asks_who_i_am
from sestet.models.offline.matching import deed_of
from sestet.models.offline.parameters import cues_of
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.small_talk import small_talk
from sestet.models.offline.words import stems_of

_SAID = patterns_of("understanding")

WHAT_I_AM = (
    "I am the small model built into Sestet: I recognise requests by their words and run the right "
    "specialist, but I cannot hold a real conversation. `sestet setup` finds a real one (a vendor's, or a "
    "local server such as Ollama); `agent.provider` and `agent.model` in `sestet.yaml` name it."
)
_HINT = "Say “help” to see what I can do."
_MOST_EXAMPLES = 4
NOT_UNDERSTOOD = (
    "I did not understand that: I am the small model built into Sestet and recognise requests by their "
    "words. Say “help” to see which; a real model understands more (`sestet setup` finds one, "
    "`agent.provider` names it)."
)
NOT_DONE_EXACTLY = (
    "I did not understand what to do exactly, so I did nothing. Say “help” to see what I can do; a real "
    "model understands more (`sestet setup` finds one)."
)
SORRY = (
    "I am sorry about that. I cannot do anything between your messages, and only what my specialists have "
    "tools for: files, memory, knowledge and plans. A real model understands more (`sestet setup` finds one)."
)
NOT_KEPT = "All right: I do not remember it. Like each message, it stays in the journal of this conversation."
NOT_DONE = "All right: I did nothing. I change, run or send something only when you ask for it."
OUTSIDE = "I cannot look there: I only read files inside of this folder, and nothing outside of it."
TYPE_SECRETS = (
    "Nothing was stored: a secret belongs in the vault, and only you may type its value. Say “store a secret "
    "called github-token”, or run `sestet secrets set NAME`; both ask you for the value, unseen by any model."
)
WHAT_TO_KEEP = (
    "I cannot tell what to keep. Say it in one message, as in “remember that the code is on the desk”."
)
WHAT_IS_MEANT = "I cannot tell what you mean. Say all of it in one message."
_NOTHING_OF_YOURS = "I have nothing on record about that. You can tell me now."
#: Asks for a fact about the person, and not for advice.
_PERSONAL = re.compile(
    r"(?!(?:what )?(?:should|can|could|would|will)|why|how(?! old| much| many| long))"
    r".*\b(?:i|my|me|mine|we|our|us)\b",
    re.IGNORECASE,
)
_NOTHING = (
    "I have no answer to that: nothing is on record about it. You can tell me now; general knowledge takes a "
    "real model (`sestet setup` finds one)."
)
#: Asks about the assistant and not about the person: no fact and no file answers that.
_ABOUT_ME = re.compile(
    r"(?!.*\b(?:i|my|mine|we|our|us)\b)(?!.*\b(?:know|say|have|find|see) about\b)"
    r".*\b(?:you|your|yourself|sestet)\b"
    r"|(?:(?:why|how|when|where|what|who) )?(?:are|were|do|did|can|could|will|would|should|have) you\b"
    r"(?! (?:still )?(?:know|remember|have|recall|see|saw|seen|find|found|got)\b)",
    re.IGNORECASE,
)
_NOTHING_OF_ME = (
    "I have no good answer to that: I am the small model built into Sestet, and I recognise requests by "
    f"their words. {_HINT} A real model understands more (`sestet setup` finds one)."
)


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

    def about_specialists(self, text: str) -> str:
        """What a specialist does, or all of them; empty for another message."""
        described = {spec.name: f"{spec.name}: {spec.description}" for spec in self.specs}
        if found := _SAID["about_specialist"].fullmatch(text.strip(" .?!")):
            return described.get(found["name"].casefold(), "")
        if not _SAID["about_specialists"].fullmatch(text.strip(" .?!")):
            return ""
        return "\n".join(("The specialists:", *(f"- {line}" for line in described.values())))

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


class Conversation(NamedTuple):
    """One reply in a conversation: the abilities at hand, and the earlier replies."""

    abilities: Abilities
    said: Sequence[str] = ()

    def small_talk(self, text: str) -> str:
        """The answer to a message that needs no specialist; empty for any other message."""
        if about := self.abilities.about_specialists(text):
            return about
        answer = small_talk(text)
        return answer.format(what=WHAT_I_AM, help=self.abilities.overview(), hint=_HINT) if answer else ""

    def without_small_talk(self, text: str) -> str:
        """The message without greetings, thanks or remarks before it: "lol ok. my cat is called Biscuit"."""
        first, end, rest = text.partition(". ") if ". " in text else text.partition("! ")
        is_talk = bool(rest.strip()) and "\n" not in first and self.small_talk(first)
        # "Help. Can you …" asks twice, but "help" alone answers neither.
        return self.without_small_talk(rest.strip()) if is_talk and end else text

    def not_understood(self, agent: str, text: str) -> str:
        """A specialist's answer when no tool fits the request."""
        # Another specialist may change things so: then it was not understood who should do it.
        others = [tool for tools in self.abilities.tools.values() for tool in tools if tool.effect == "local"]
        if deed := deed_of(text, (*self.abilities.tools[agent], *others)):
            # Examples of other work would not help: the request was understood.
            return f"No tool of the {agent} here can {deed} anything. {_HINT}"
        return NOT_DONE_EXACTLY

    def not_here(self, agent: str, ability: str) -> str:
        return f"No tool of the {agent} here can do that (“{ability}”). {_HINT}"

    def only_thinking(self) -> str:
        return f"This takes a real model: there is no tool for it, only thinking. {WHAT_I_AM}"

    def without_tools(self, agent: str) -> str:
        spec = next((spec for spec in self.abilities.specs if spec.name == agent), None)
        work = f" ({spec.description[:1].lower()}{spec.description[1:]})" if spec else ""
        return f"I cannot do that: it is work for the {agent}{work}, and the {agent} has no tools here yet."


def is_about_assistant(question: str) -> bool:
    """Whether a question is about the assistant, so that neither a fact nor a file answers it."""
    is_memory = re.search(
        r"\byou(?:'ve| have| still| also| ever| really)* (?:know|remember|recall|have|see|saw|find|found"
        r"|think|say|said|tell|told|note|noted|save|saved|store|stored|keep|kept|hear|heard)\b",
        question,
        re.IGNORECASE,
    )
    return _ABOUT_ME.match(question) is not None and not is_memory and not asks_who_i_am(question)


def nothing_on_record(question: str) -> str:
    """Says that neither a stored fact nor a file answers a question."""
    if asks_who_i_am(question):
        return "I have nothing on record about who you are. You can tell me now, as in “my name is Ada”."
    question = re.sub(r"^(?:tell me|show me|give me)\s+(?:about\s+)?", "", question, flags=re.IGNORECASE)
    if _ABOUT_ME.match(question):
        return _NOTHING_OF_ME
    return _NOTHING_OF_YOURS if is_personal(question) else _NOTHING


def is_personal(question: str) -> bool:
    """Whether only the person can know the answer."""
    return _PERSONAL.match(question) is not None


def _various(tools: Sequence[Tool]) -> Sequence[Tool]:
    """A few tools of a specialist, of different kinds if it has many."""
    kinds = list({tool.name.partition("_")[0]: tool for tool in reversed(tools)}.values())
    return (kinds[::-1] if len(kinds) >= _MOST_EXAMPLES else tools)[:_MOST_EXAMPLES]


def _say_for_example(lines: Sequence[str]) -> str:
    return "You can say, for example:\n" + "\n".join(lines) if lines else ""


def _example(tool: Tool) -> str:
    """How a person says it: ``{start_node}`` of a pattern becomes ``<start node>``."""
    if not tool.examples:
        return tool.name
    told = re.sub(r"\{(\w+)\}", lambda slot: f"<{slot[1].replace('_', ' ')}>", tool.examples[0])
    return re.sub(r"\bi\b", "I", told)
