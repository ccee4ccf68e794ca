"""The work of a specialist: its calls one after another, and the answer from what they found."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sestet.core.message import AssistantMessage, Found, Message, ToolCall, ToolMessage
from sestet.core.schema import JsonValue
from sestet.core.tool import Tool
from sestet.models.offline.answering import answers_to, has_subject, is_about_person, search_words
from sestet.models.offline.corrections import corrected_fact, read_correction
from sestet.models.offline.parameters import FILE, QUOTED
from sestet.models.offline.words import trim_request, without_article

#: How the orchestrator words requests that take more than one call.
READ_ABOUT = "read the file about {name}"
READ_WHICH = "read the {which} file that mentions {text}"
READ_OTHER = "read the other file that mentions {text}, not the one about {name}"
CORRECT = "correct what is remembered: {text}"
CORRECT_ABOUT = "correct what is remembered about {about}: {text}"
_NOTHING_TO_FORGET = "Nothing is on record about “{what}”, so there is nothing to forget."
_NOTHING_TO_CORRECT = (
    "I have nothing on record to correct with “{new}”. Say the whole sentence, as in “my dog is called Max”."
)
_NOT_ON_RECORD = "I have nothing on record about that. You can tell me now."
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "next": 1, "last": -1}
_MOST_FACTS = 20
_MOST_STEPS = 6
_READS = re.compile(
    r"(?:please\s+)?(?:read|open|show|display|print|view|cat|see|what\s+is\s+in|what\s+does)(?:\s+me|\s+us)?(?:\s+out)?(?:\s+the|\s+my)?(?:\s+file|\s+document|\s+contents?\s+of(?:\s+the)?)?\s+(?P<name>\S.*)",
    re.IGNORECASE,
)
_SPACED_FILE = re.compile(r"(?P<name>[^\s,;\"'“”`][^,;\"“”`\n]*?\.[a-zA-Z][a-zA-Z0-9]{0,4})\b", re.IGNORECASE)
_NO_NAME = re.compile(
    r"\b(?:and|(?:lines?|part|end|top|beginning|contents?|rest) of|from line|in the)\b", re.IGNORECASE
)


class Step(NamedTuple):
    """A call that was made, and its result."""

    call: ToolCall
    result: ToolMessage


class Work(NamedTuple):
    """A specialist's request, and the steps that were made for it."""

    request: str
    steps: tuple[Step, ...]
    tools: Mapping[str, Tool]
    #: How many of the last steps were made at the same time.
    together: int = 1

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def latest(self) -> tuple[Step, ...]:
        """The steps of the last reply, which may have several calls."""
        return self.steps[-self.together :]

    def made(self, tool: str) -> list[Step]:
        return [step for step in self.steps if step.call.name == tool]


#: The next call, or the answer; None: the specialist goes on as with any request.
Next = ToolCall | str | None


def work_of(request: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Work:
    results = {message.call_id: message for message in messages if isinstance(message, ToolMessage)}
    replies = [message.calls for message in messages if isinstance(message, AssistantMessage)]
    steps = tuple(Step(call, results[call.id]) for calls in replies for call in calls if call.id in results)
    return Work(request, steps, {tool.name: tool for tool in tools}, len(replies[-1]) if replies else 1)


def next_step(work: Work) -> Next:
    """The next call of work that takes several, or its answer."""
    for pattern, needed, flow in _FLOWS:
        if needed <= work.tools.keys() and (found := pattern.fullmatch(trim_request(work.request))):
            return flow(work, found)
    if work.steps:
        follow_up = _FOLLOW_UPS.get(work.last.call.name)
        return follow_up(work) if follow_up else None
    return _spaced_name(work)


def searched_text(request: str) -> str:
    """The text that a request to read one of several files has searched for; empty for another request."""
    for pattern, _, flow in _FLOWS:
        if flow is _read_which and (found := pattern.fullmatch(request)):
            return found["text"]
    return ""


def subject_of_file(request: str) -> str:
    """What a request to read the file about something says; empty for another request."""
    found = _form(READ_ABOUT).fullmatch(request)
    return found["name"] if found else ""


def _call(tool: str, **arguments: JsonValue) -> ToolCall:
    return ToolCall(tool, arguments)


# Files


def _spaced_name(work: Work) -> Next:
    """Reading begins with the longest name that the request may mean: "read stock list.csv"."""
    reads = _READS.fullmatch(trim_request(work.request))
    if reads is None or "fs_read" not in work.tools or re.search(QUOTED, work.request):
        return None
    name = _SPACED_FILE.match(reads["name"])
    if name is None or " " not in name["name"] or _NO_NAME.search(name["name"]):
        return None
    return _call("fs_read", path=name["name"])


def _after_reading(work: Work) -> Next:
    """A file that is not there may be in another folder."""
    if not work.last.result.failed or "fs_search" not in work.tools or work.made("fs_search"):
        return None
    if re.search(QUOTED, work.request):
        return None
    path = str(work.steps[0].call.arguments.get("path", ""))
    name = path.rstrip("/").rpartition("/")[2]
    return _call("fs_search", text=name) if re.search(FILE, name) and len(work.steps) == 1 else None


def _after_searching(work: Work) -> Next:
    """What a search for a missing file found is read; else the first answer stands."""
    failed = [step for step in work.made("fs_read") if step.result.failed]
    if not failed:
        return None
    tried = {str(step.call.arguments.get("path", "")) for step in failed}
    wanted = str(work.last.call.arguments.get("text", "")).casefold()
    named = [path for path in _paths(work.last.result.found) if path.rpartition("/")[2].casefold() == wanted]
    if len(named) == 1 and named[0] not in tried:
        return _call("fs_read", path=named[0])
    if len(named) > 1:
        return "\n".join(
            ("There are several files with this name; say which one:", *(f"- {path}" for path in named))
        )
    if " " in wanted and not any(" " not in path for path in tried):
        # The name may be only the last word: "read me grandma's notes.txt".
        return _call("fs_read", path=wanted.split()[-1])
    return failed[0].result.for_person or failed[0].result.text


def _read_about(work: Work, found: re.Match[str]) -> Next:
    name = _without_kind(found["name"])
    if not work.steps:
        return _call("fs_search", text=name)
    if work.last.call.name == "fs_read":
        return None
    paths = _paths(work.last.result.found)
    named = [path for path in paths if name.casefold() in path.casefold()] or paths
    if len(named) == 1:
        return _call("fs_read", path=named[0])
    if named:
        return "\n".join(
            (f"Several files mention “{name}”; say which one to read:", *(f"- {path}" for path in named))
        )
    words = sorted(name.split(), key=len)
    if len(words) > 1 and len(work.steps) == 1:
        return _call("fs_search", text=words[-1])
    return f"There is no file here about “{name}”. Say “list the files” to see which files there are."


def _read_which(work: Work, found: re.Match[str]) -> Next:
    if not work.steps:
        return _call("fs_search", text=found["text"])
    if work.last.call.name == "fs_read":
        return None
    paths = _paths(work.last.result.found)
    groups = found.groupdict()
    if name := (groups.get("name") or "").casefold():
        lines = work.last.result.found
        about = {one.name for one in lines if name in one.name.casefold()} or {
            one.name for one in lines if name in one.text.casefold()
        }
        paths = [path for path in paths if path not in about]
    place = _ORDINALS.get((groups.get("which") or "first").casefold(), 0)
    if not -len(paths) <= place < len(paths):
        return f"There is no such file: {len(paths)} mention “{found['text']}”."
    return _call("fs_read", path=paths[place])


def _size_of(work: Work, found: re.Match[str]) -> Next:
    path = found["path"].strip("\"'`“”")
    name = path.rpartition("/")[2].casefold()
    if not work.steps:
        return _call("fs_list", path=path.rpartition("/")[0] or ".")
    sizes = {
        one.name: one.text for one in work.last.result.found if one.name.rpartition("/")[2].casefold() == name
    }
    if work.last.call.name == "fs_list" and sizes:
        return "\n".join(f"{where}: {size}" for where, size in sizes.items())
    if work.last.call.name == "fs_list" and len(work.steps) == 1:
        return _call("fs_search", text=name)
    if sizes:
        return _call("fs_list", path=next(iter(sizes)).rpartition("/")[0] or ".")
    return f"There is no file named “{path}” here."


def _is_there(work: Work, found: re.Match[str]) -> Next:
    name = found["path"].strip("\"'`“”")
    if not work.steps:
        return _call("fs_search", text=name.rpartition("/")[2])
    wanted = name.rpartition("/")[2].casefold()
    there = [path for path in _paths(work.last.result.found) if path.rpartition("/")[2].casefold() == wanted]
    return f"Yes: {', '.join(there)}" if there else f"No, there is no file named “{name}” here."


def _paths(found: Sequence[Found]) -> list[str]:
    return list(dict.fromkeys(one.name for one in found if not one.name.endswith("/")))


def _without_kind(name: str) -> str:
    """The name without words that only say what kind of thing it names: "the lentil soup recipe"."""
    name = without_article(name.strip(" .?!\"'“”"))
    return re.sub(
        r"(?<=\w)\s+(?:file|document|recipe|note|notes|text|table|spreadsheet)$",
        "",
        name,
        flags=re.IGNORECASE,
    )


# Memory


def _forget_about(work: Work, found: re.Match[str]) -> Next:
    """Recall first: only a fact with its exact words can be forgotten."""
    what = found["what"].strip(" .?!\"'“”")
    if not work.steps:
        return _call("memory_recall", query=search_words(what), limit=_MOST_FACTS)
    if work.last.call.name == "memory_forget":
        if work.last.result.failed or len(work.steps) > _MOST_STEPS:
            return None
        # A fact that was replaced counts again once the newer one is forgotten.
        return _call("memory_recall", query=search_words(what), limit=_MOST_FACTS - len(work.steps))
    facts = answers_to(what, work.last.result.found)
    if not facts and (done := work.made("memory_forget")):
        return "\n".join(step.result.text for step in done)
    if not facts:
        return _NOTHING_TO_FORGET.format(what=what)
    if len(facts) > 1:
        lines = (f"- {fact.name}: {fact.text}" for fact in facts)
        return "\n".join(("Several facts are about that; say which one, as in “forget that …”:", *lines))
    return _call("memory_forget", memory=facts[0].name, words=facts[0].text)


def _after_forgetting(work: Work) -> Next:
    """No fact had these words: look for one that says the same."""
    # A call that the person denied is not tried in other words.
    has_erred = work.last.result.failed and not work.last.result.for_person
    if not has_erred or "memory_recall" not in work.tools or work.made("memory_recall"):
        return None
    words = str(work.last.call.arguments.get("words", ""))
    return _call("memory_recall", query=search_words(words), limit=_MOST_FACTS)


def _after_recalling(work: Work) -> Next:
    """Only facts that answer the question are told."""
    if failed := [step for step in work.made("memory_forget") if step.result.failed]:
        words = str(failed[0].call.arguments.get("words", ""))
        facts = answers_to(words, work.last.result.found)
        if len(facts) == 1:
            return _call("memory_forget", memory=facts[0].name, words=facts[0].text)
        return _NOTHING_TO_FORGET.format(what=words)
    return _only_answers(work, "You told me:", _NOT_ON_RECORD)


def _after_looking_up(work: Work) -> Next:
    return _only_answers(work, "In the knowledge base:", _NOT_ON_RECORD)


def _only_answers(work: Work, head: str, nothing: str) -> Next:
    """The result without what does not answer the request; as it is if all of it does."""
    result = work.last.result
    if not has_subject(work.request):
        return None
    question = re.sub(r"^(?:do you remember|look up)\s+", "", trim_request(work.request), flags=re.IGNORECASE)
    kept = answers_to(question, result.found)
    if not kept and len(work.steps) == 1 and is_about_person(question):
        return _call(work.last.call.name, query="who am I", limit=_MOST_FACTS)
    if not kept and len(work.steps) == 1 and (wider := search_words(question)) != question:
        # Other words for the same things may find more.
        return _call(work.last.call.name, query=wider, limit=_MOST_FACTS)
    if set(kept) == set(result.found):
        return None
    if not kept:
        return nothing
    return "\n".join(
        (
            head,
            *(f"- {one.text} ({one.name})" if one.text not in one.name else f"- {one.text}" for one in kept),
        )
    )


def _correct(work: Work, found: re.Match[str]) -> Next:
    """A correction replaces the fact that it is about, and is remembered if there is none."""
    correction = read_correction(found["text"])
    if correction is None:
        return None
    if not work.steps:
        about = found.groupdict().get("about") or f"{correction.new} {correction.old}".strip()
        return _call("memory_recall", query=search_words(about), limit=_MOST_FACTS)
    if work.last.call.name != "memory_recall":
        return None
    if changed := corrected_fact(correction, work.last.result.found, found.groupdict().get("about") or ""):
        fact, words = changed
        return _call("memory_update", memory=fact.name, fact=words)
    if correction.is_sentence:
        return _call("memory_remember", fact=correction.new)
    return _NOTHING_TO_CORRECT.format(new=correction.new)


Flow = Callable[[Work, re.Match[str]], Next]


def _form(text: str) -> re.Pattern[str]:
    """A request with named places, as a pattern."""
    parts = re.split(r"\{(\w+)\}", text)
    return re.compile(
        "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)),
        re.IGNORECASE | re.DOTALL,
    )


#: Requests that take several calls: their words, the tools that they need, and the work.
_FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (_form(READ_OTHER), frozenset({"fs_search", "fs_read"}), _read_which),
    (_form(READ_WHICH), frozenset({"fs_search", "fs_read"}), _read_which),
    (_form(READ_ABOUT), frozenset({"fs_search", "fs_read"}), _read_about),
    (_form("how big is the file {path}"), frozenset({"fs_list", "fs_search"}), _size_of),
    (_form("is there a file named {path}"), frozenset({"fs_search"}), _is_there),
    (
        _form("forget what you know about {what}"),
        frozenset({"memory_recall", "memory_forget"}),
        _forget_about,
    ),
    (_form(CORRECT_ABOUT), frozenset({"memory_recall", "memory_update", "memory_remember"}), _correct),
    (_form(CORRECT), frozenset({"memory_recall", "memory_update", "memory_remember"}), _correct),
)
#: What may follow a call, by its tool.
_FOLLOW_UPS: Mapping[str, Callable[[Work], Next]] = {
    "fs_read": _after_reading,
    "fs_search": _after_searching,
    "memory_forget": _after_forgetting,
    "memory_recall": _after_recalling,
    "search_knowledge": _after_looking_up,
    "rag_retrieve": _after_looking_up,
}
