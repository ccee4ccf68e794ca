"""What the built-in model says itself: greetings, sums, what it is, and that it did not understand."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sestet.core.agent import AgentSpec
from sestet.core.message import ToolMessage
from sestet.core.tool import Tool
from sestet.models.offline.arithmetic import work_out
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
#: How a text ends that speaks to a model.
_TO_MODELS = re.compile(
    r"(?:\s+(?:Say so|Answer with|Answer the person|Do not try|Correct them|Choose another)[^.]*\.)+$"
)
_MOST_EXAMPLES = 4
_LONGEST_PHRASE = 200
WITHOUT_PAST = (
    "I do not see what was said before, so I cannot tell what is meant. Say all of it in one message."
)
_NO_ANSWER = "I have no answer to that: all I know is in your files, your memory and your knowledge base."


class Abilities(NamedTuple):
    """What the specialists that are here can do, in the words of their examples."""

    specs: Sequence[AgentSpec]
    tools: Mapping[str, Sequence[Tool]]

    def has(self, agent: str) -> bool:
        return agent in self.tools

    def overview(self) -> str:
        """A line for each specialist: an example of each kind of work."""
        examples = {spec.name: spec.examples[:1] for spec in self.specs}
        lines: list[str] = []
        for agent, tools in self.tools.items():
            shown = [_example(tool) for tool in _various(tools)] or list(examples.get(agent, ()))
            if shown:
                lines.append(f"- {agent}: " + ", ".join(f"“{text}”" for text in shown))
        return _say_for_example(lines)

    def missing(self, agent: str, text: str) -> str:
        """An ability on the agent's plaque that the request names and no tool here has; empty: none."""
        known = {stem for tool in self.tools[agent] for stem in cues_of(tool)}
        keywords = next((spec.keywords for spec in self.specs if spec.name == agent), ())
        said = f" {' '.join(text.casefold().split())} "
        return next((k for k in keywords if f" {k} " in said and not stems_of(k) <= known), "")

    def plans(self, agent: str) -> bool:
        """Whether plans are what an agent is asked for."""
        spec = next((spec for spec in self.specs if spec.name == agent), None)
        return spec is not None and any("plan" in keyword.split() for keyword in spec.keywords)

    def of(self, agent: str) -> str:
        return _say_for_example([f"- {_example(tool)}" for tool in self.tools[agent] if tool.examples])


class Conversation(NamedTuple):
    """One reply in a conversation: what can be done in it, and what was said before."""

    abilities: Abilities
    said: Sequence[str] = ()
    #: Facts that were remembered and have to do with the message, a line for each.
    recalled: Sequence[str] = ()

    def small_talk(self, text: str) -> str:
        """The answer to what needs no specialist; empty when it is something else."""
        if len(text) > _LONGEST_PHRASE:
            return ""
        # "Hello, who are you?" is a question, "hello" alone a greeting, "thanks, bye" both of its words.
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
        """The answer to what is no specialist's work; it says at length what it is, once."""
        if answer := self.small_talk(text):
            return answer
        if self.recalled and is_question(text):
            return "\n".join(("On record is:", *self.recalled))
        if any(WHAT_I_AM in said for said in self.said):
            return f"{_NO_ANSWER} {_HINT}"
        return f"{_NO_ANSWER} {WHAT_I_AM}\n\n{self.abilities.overview()}"

    def not_understood(self, agent: str, text: str) -> str:
        """Said in a room, where no tool fits the request."""
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

    def nobody_for(self, agent: str) -> str:
        return f"That is work for the {agent}, who has no tools here, so I cannot do it."


def for_people(result: ToolMessage) -> str:
    """A result as it is; of a refusal, without what it tells a model to do."""
    return _TO_MODELS.sub("", result.text).replace("the person", "you") if result.failed else result.text


def _various(tools: Sequence[Tool]) -> Sequence[Tool]:
    """A few tools of a room, of different kinds if it has many."""
    kinds = list({tool.name.partition("_")[0]: tool for tool in reversed(tools)}.values())
    return (kinds[::-1] if len(kinds) >= _MOST_EXAMPLES else tools)[:_MOST_EXAMPLES]


def _say_for_example(lines: Sequence[str]) -> str:
    return "You can say, for example:\n" + "\n".join(lines) if lines else ""


def _example(tool: Tool) -> str:
    return tool.examples[0].replace("{", "<").replace("}", ">") if tool.examples else tool.name
