"""Answers questions from files: by a line, by a line below its heading, by a file or folder of that name."""

import re
from collections.abc import Iterator, Mapping, Sequence

from sestet.core.message import Found, ToolCall
from sestet.core.words import stem
from sestet.models.offline.answering import (
    alike_words,
    lines_about,
    lines_that_answer,
    read_question,
    shortened_words,
)
from sestet.models.offline.conversation import NOT_UNDERSTOOD, nothing_on_record
from sestet.models.offline.listing import names_of, several, unlisted
from sestet.models.offline.naming import files_named
from sestet.models.offline.tasks import LIST_NAMED
from sestet.models.offline.words import is_question
from sestet.models.offline.work import Flow, Next, Step, Work, call, form, paths_of

#: How the orchestrator words questions that files may answer.
ANSWER = "look in the files for an answer: {question}"
LIST_ABOUT = "list the folder about {name}, else look for an answer"
_MOST_WORDS = 5
_MOST_LINES = 5
_MOST_TABLES = 2
_MOST_OTHERS = 6
_MOST_FILES = 3
_MOST_NEAR = 2
_NEAREST = "No line of your files says just that. The nearest:"
_SHORTEST_STEM = 3
#: Less of a word is the beginning of too many others: "all" of "allergic".
_BEGINNING = 4
#: "What am I allergic to?", "where do I live?": most lines of files are about others.
_ASKS_WHAT_I_AM = re.compile(
    r"\b(?:am|was) i\b|\bi (?:live|reside|work|study|weigh|come from)\b"
    r"|\bmy (?:name|address|age|birthday|job|profession|height|weight|home|nationality)\b(?!')",
    re.IGNORECASE,
)
#: A line in the words of its writer, or an entry such as "allergies: nuts".
_IN_OWN_WORDS = re.compile(r"\b(?:I|[Mm]y)\b|^\W*\w+:")


def _answer(work: Work, found: re.Match[str]) -> Next:
    """The lines with the telling words of a question; for mere words, a file with this name."""
    question = found["question"]
    is_asked = is_question(question)
    nothing = nothing_on_record(question) if is_asked else NOT_UNDERSTOOD
    if not is_asked:
        if work.made("fs_read") and not work.made("fs_search"):
            return None
        if listing := unlisted(work):
            return listing
        if named := files_named(question, names_of(work)):
            return call("fs_read", path=named[0]) if len(named) == 1 else several(named)
    searches = work.made("fs_search")
    telling = read_question(question).telling
    if not searches:
        words = [*map(_searched, telling)][:_MOST_WORDS]
        return tuple(call("fs_search", text=word) for word in dict.fromkeys(words)) or nothing
    if answers := lines_that_answer(question, filter(_tells, _lines_for(work, question))):
        return _shown(answers)
    tables = _tables(work)
    rows = [step.result.found for step in searches if step.call.arguments.get("text") == ","]
    if tables and not rows:
        return tuple(call("fs_search", text=",", path=path) for path in tables)
    answers = [
        one
        for table in rows
        if table
        for one in lines_that_answer(question, table[1:], table[0].text)
        or lines_that_answer(question, table[1:], table[0].text, spare=1)
    ]
    heads = [table[0] for table in rows if table and any(one.name == table[0].name for one in answers)]
    if answers:
        return _shown((*heads, *answers))
    if more := _other_searches(work, telling):
        return more
    return _answer_in_context(work, question) or nothing


def _other_searches(work: Work, telling: Sequence[str]) -> tuple[ToolCall, ...]:
    """Searches for other words for the same things, and for the beginnings of words that no file has."""
    steps = {str(step.call.arguments["text"]): step for step in work.made("fs_search")}
    unfound = [w for w in telling if len(w) > _BEGINNING and w.isalpha() and not _hits(steps, w)]
    words = [_searched(other) for word in telling for other in alike_words(word)]
    words += [word[:_BEGINNING] for word in unfound]
    wanted = [word for word in dict.fromkeys(words) if not any(word.startswith(done) for done in steps)]
    is_first = steps.keys() - {","} <= {*map(_searched, telling)}
    return tuple(call("fs_search", text=word) for word in wanted[:_MOST_OTHERS]) if is_first else ()


def _hits(steps: Mapping[str, Step], word: str) -> bool:
    step = steps.get(_searched(word))
    return step is None or bool(step.result.found)


def _answer_in_context(work: Work, question: str) -> Next:
    """A line with the heading above it, or with the question that it answers: "Q: …", "A: …"."""
    files = paths_of([one for step in work.made("fs_search") for one in step.result.found])
    read = work.made("fs_read")
    if files and not read:
        return tuple(call("fs_read", path=path) for path in files[:_MOST_FILES])
    told = [
        (head, line)
        for step in read
        for head, line in _with_headings(step.result.found)
        if _may_be_about(question, line)
    ]
    answers = [one for head, line in told for one in lines_that_answer(question, [line], head)]
    # "What changed in 1.3.2?" is answered by what stands below the heading.
    answers += [line for head, line in told if head and lines_that_answer(question, [Found("", head)])]
    if answers:
        return _shown(list(dict.fromkeys(answers)))
    near = lines_about(question, _lines_for(work, question))
    return _shown(near, _NEAREST) if 0 < len(near) <= _MOST_NEAR else None


def _tells(line: Found) -> bool:
    """Whether a line may be an answer: neither a heading nor a question itself."""
    return not _heading(line) and not line.text.rstrip().endswith("?")


def _heading(line: Found) -> bool:
    return re.match(r"#+ |\[[^\]]+\]$", line.text.strip()) is not None


def _with_headings(lines: Sequence[Found]) -> Iterator[tuple[str, Found]]:
    """The lines of a file, each with its heading; a line that asks or announces is joined with the next."""
    head, before = "", ""
    for line in lines:
        text = line.text.strip()
        if _heading(line):
            head, before = text.strip("#[]= "), ""
        elif text.endswith(("?", ":")):
            before = text
        else:
            yield head, line._replace(text=f"{before} {text}".strip())
            before = ""


def _lines_for(work: Work, question: str) -> list[Found]:
    """The lines that were found, without those that cannot be about what is asked."""
    found = (one for step in work.made("fs_search") for one in step.result.found if one.text)
    return [line for line in dict.fromkeys(found) if _may_be_about(question, line)]


def _may_be_about(question: str, line: Found) -> bool:
    return not _ASKS_WHAT_I_AM.search(question) or _IN_OWN_WORDS.search(line.text) is not None


def _tables(work: Work) -> list[str]:
    """The tables with the most hits: the head of a table says what its columns are."""
    found = [one.name for step in work.made("fs_search") for one in step.result.found]
    tables = [path for path in dict.fromkeys(found) if path.casefold().endswith((".csv", ".tsv"))]
    return sorted(tables, key=lambda path: -found.count(path))[:_MOST_TABLES]


def _searched(word: str) -> str:
    """The beginning of a word that every form of it has: days and months are often shortened."""
    if word in shortened_words():
        return word[:3]
    short = stem(word)
    return short if len(short) >= _SHORTEST_STEM else word


def _shown(lines: Sequence[Found], title: str = "In your files:") -> str:
    shown = [f"- {one.name}: {one.text.strip()}" for one in lines[:_MOST_LINES]]
    more = [f"… and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join((title, *shown, *more))


def _list_about(work: Work, found: re.Match[str]) -> Next:
    """ "What recipes do I have?": the folder or the file with this name, else the lines that answer."""
    if not work.steps:
        return call("fs_list", path=".")
    names = [one.name for one in work.steps[0].result.found]
    named = files_named(found["name"], [name for name in names if name.endswith("/")])
    named = named or files_named(found["name"], names)
    if len(named) == 1 and len(work.steps) == 1:
        is_folder = named[0].endswith("/")
        return call("fs_list" if is_folder else "fs_read", path=named[0].rstrip("/"))
    asked = form(ANSWER).fullmatch(ANSWER.format(question=f"{found['name']}?"))
    return None if named or asked is None else _answer(work, asked)


def _list_named(work: Work, found: re.Match[str]) -> Next:
    """ "My notes" may be the folder "my notes" or "notes"."""
    if not work.steps:
        return call("fs_list", path=".")
    name = found["name"].casefold()
    wanted = (f"{name}/", f"{name.split()[-1]}/")
    folders = [one.name for one in work.steps[0].result.found if one.name.casefold() in wanted]
    if len(work.steps) == 1 and folders:
        return call(
            "fs_list", path=min(folders, key=lambda folder: wanted.index(folder.casefold())).rstrip("/")
        )
    return None if folders else f"There is no folder named “{found['name']}” here."


_NEEDED = frozenset({"fs_list", "fs_search", "fs_read"})
#: The words of these questions, the tools that they need, and the work.
FLOWS: tuple[tuple[re.Pattern[str], frozenset[str], Flow], ...] = (
    (form(ANSWER), _NEEDED, _answer),
    (form(LIST_ABOUT), _NEEDED, _list_about),
    (form(LIST_NAMED), frozenset({"fs_list"}), _list_named),
)
