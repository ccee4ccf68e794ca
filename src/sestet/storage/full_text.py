"""Turns text into a full-text query (FTS5) that is never malformed."""

import re

from sestet.core.words import COMMON_WORDS

#: With the words that people use to ask for stored texts.
_STOP_WORDS = COMMON_WORDS | {"he", "her", "his", "recall", "remember", "she", "told"}
# A question has fewer words; a pasted page would make the search slow.
_MOST_WORDS = 100


def telling_words(query: str) -> list[str]:
    """The words of a query without common words, each once in any case."""
    words = {word.casefold(): word for word in reversed(re.findall(r"\w+", query))}
    return [word for key, word in reversed(words.items()) if key not in _STOP_WORDS][:_MOST_WORDS]


def match_any(query: str) -> str:
    """An FTS5 expression for rows with any of the telling words; empty if there are none."""
    # Each word is quoted, so FTS5 reads no part of a query as syntax.
    return " OR ".join(f'"{word}"' for word in telling_words(query))


def match_phrase(text: str) -> str:
    """An FTS5 expression for rows with these words in this order; empty if there are no words."""
    words = re.findall(r"\w+", text)
    return f'"{" ".join(words)}"' if words else ""
