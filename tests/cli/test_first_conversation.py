"""The first conversation on a fresh machine, without a key: what a new person says, and is answered."""

from sestet.agents import NAMES, room_names
from tests.cli.program import Home

#: No word of it names the librarian's work, so a specialist that joins the six may claim it.
VAGUE = (("what do pancakes need?", "pancakes need buttermilk (note"),) if room_names() == NAMES else ()
#: What is said, and what the answer has to hold.
CONVERSATION = (
    ("hello", "Hello!"),
    ("who are you?", "I am the small model built into Sestet"),
    ("what can you do?", "- operator: “list the files here”"),
    ("what's in this folder?", "notes.txt"),
    ("can you show me notes.txt", "buy tea"),
    ("which files mention tea?", "notes.txt:1: buy tea"),
    ("my name is Jonas and I live in Vienna", "Remembered: I live in Vienna"),
    ("remember my sister's birthday is on 4 May", "Remembered: my sister's birthday is on 4 May"),
    ("when is my sister's birthday?", "my sister's birthday is on 4 May (m3"),
    ("what do you know about me?", "my name is Jonas"),
    ("remember that the wifi code is sunny-42", "Remembered: the wifi code is sunny-42"),
    ("what is the wifi code?", "You told me:\n- the wifi code is sunny-42 (m4"),
    ("save the fact that pancakes need buttermilk", "Saved: pancakes need buttermilk"),
    ("what do my notes say about pancakes?", "pancakes need buttermilk (note"),
    *VAGUE,
    ("save in the knowledge base that the office closes at six", "Saved: the office closes at six"),
    ("when does the office close? look it up in the knowledge base", "the office closes at six"),
    ("when does the office close?", "the office closes at six"),
    (
        "add to the graph that Anna is related to the harbour project",
        "Anna → related_to → the harbour project",
    ),
    ("how are Anna and the harbour project connected?", "From Anna to the harbour project in 1 step"),
    ("lesson learned: when the printer jams, open the back tray", "Lesson saved"),
    ("what did we learn about the printer?", "open the back tray"),
    ("make a plan for moving to a new flat by the end of March", "Goal: moving to a new flat"),
    ("read notes.txt and remember the tea", "Remembered: buy tea"),
    ("what's 12 times 12?", "12 times 12 = 144"),
    ("what's the weather in Oslo?", "I cannot look that up by myself: a real model would find a page"),
    ("what is the capital of Peru?", "I have no answer to that"),
    ("delete notes.txt", "Not done: it deletes the file 'notes.txt'"),
    ("thanks, bye", "Goodbye!"),
)


def test_a_new_person_is_answered_sensibly_about_files_memory_knowledge_and_a_plan(home: Home) -> None:
    done = home.run("chat", stdin="\n".join(said for said, _ in CONVERSATION))

    assert done.returncode == 0
    rest = done.stdout
    for said, expected in CONVERSATION:
        assert expected in rest, f"after “{said}”:\n{rest}"
        rest = rest[rest.index(expected) + len(expected) :]
