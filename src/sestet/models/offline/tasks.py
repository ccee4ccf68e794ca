"""The tasks of a message: each is answered directly, or by requests to specialists."""

from typing import NamedTuple


class Request(NamedTuple):
    """A request to a specialist."""

    agent: str
    text: str
    #: Whether its result is the answer, even if it says that there is none.
    is_final: bool = False
    #: Names of files and folders: the result is the answer only if it shows one of them, or what is in it.
    places: tuple[str, ...] = ()
    #: What it asks, if that is not the text of its task.
    question: str = ""


class Task(NamedTuple):
    """One part of a message. Its requests are made in their order, until one of them has an answer."""

    text: str
    requests: tuple[Request, ...] = ()
    #: The answer when no request is made, or when none has an answer.
    answer: str = ""
    #: Whether it is a question that stored facts may answer.
    is_lookup: bool = False
    #: Whether it was understood, and not only guessed.
    is_clear: bool = True


def ask(agent: str, text: str, request: str = "") -> Task:
    """A task for one specialist, in the words of the person or in others."""
    return Task(text, (Request(agent, request or text),))


def look_ups(question: str, name: str) -> tuple[Request, ...]:
    """How memory, knowledge and the graph are asked for an answer; the graph needs the name in a question."""
    of_name = (Request("librarian", f"what is connected to {name}"),) if name else ()
    return (
        Request("chronicler", f"do you remember {question}"),
        Request("librarian", f"look up {question}"),
        *of_name,
    )


#: How the operator is asked for a folder that may be there.
LIST_NAMED = "list the folder named {name}"


def folder_first(name: str, otherwise: Request) -> Task:
    """A folder of this name, with or without "my", is listed if it is there."""
    folders = (name, name.split()[-1]) if " " in name else (name,)
    listing = Request("operator", LIST_NAMED.format(name=name), places=folders)
    return Task(name, (listing, otherwise), is_lookup=True)


#: How the librarian is asked for a document that was ingested.
SHOW_DOCUMENT = "show the document {name}"


def with_known(about: str, task: Task) -> Task:
    """ "What about Rocky?" is answered by what is known of Rocky, if the question before does not fit."""
    if not task.is_lookup or task.requests[0].agent != "chronicler":
        return task
    known = Request("chronicler", f"do you remember {about}", question=about)
    return task._replace(requests=(*task.requests[:1], known, *task.requests[1:]))


def document_of(name: str) -> Task:
    """A document may be a file here, or one that was ingested from elsewhere."""
    name = name.strip("\"'`“”")
    reading = Request("operator", f'read "{name}"', places=(name,))
    return Task(
        name, (reading, Request("librarian", SHOW_DOCUMENT.format(name=name), is_final=True)), is_lookup=True
    )
