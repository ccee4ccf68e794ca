"""What can be said about English words without a model: stop words and stems."""

#: Words that say nothing about the subject of a sentence.
STOP_WORDS = frozenset(
    # One text is easier to read and to keep than a list of quoted words.
    """
    a about am an and are as at be been by did do does for from had has have how i in is it its know me my of
    on or our tell that the their them they this to us was we were what when where which who why will with you
    your
    """.split()  # noqa: SIM905
)

_SUFFIXES = ("'s", "ies", "ing", "ed", "es", "s")
_SHORTEST_STEM = 3


def stem(word: str) -> str:
    """The word in lower case without its ending; crude, and good enough to compare short texts."""
    word = word.casefold()
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word.removesuffix(suffix)
            break
    # "Noted" and "note", "stories" and "story" get the same stem.
    return word[:-1] if word[-1:] in ("e", "y") and len(word) > _SHORTEST_STEM else word
