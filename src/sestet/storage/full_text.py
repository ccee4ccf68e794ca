"""Turns a person's question into a full-text query that cannot be malformed."""

import re

from sestet.core.language import STOP_WORDS

#: Beside the usual ones, words of questions about what was said.
_STOP_WORDS = STOP_WORDS | {"he", "her", "his", "recall", "remember", "she", "told"}
# A question has few; a pasted page would only make the search slow.
_MOST_WORDS = 100


def telling_words(query: str) -> list[str]:
    """The words that say what is being looked for, each once, whatever its case."""
    words = {word.casefold(): word for word in reversed(re.findall(r"\w+", query))}
    return [word for key, word in reversed(words.items()) if key not in _STOP_WORDS][:_MOST_WORDS]


def match_any(query: str) -> str:
    """An FTS5 expression for rows with any of the telling words; empty when the query holds none."""
    # Each word is quoted, so nothing in a query is ever read as FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in telling_words(query))


def match_phrase(text: str) -> str:
    """An FTS5 expression for rows that hold these words in this order; empty when there are none."""
    words = re.findall(r"\w+", text)
    return f'"{" ".join(words)}"' if words else ""
