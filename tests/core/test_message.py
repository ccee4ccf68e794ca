"""Arguments of calls become JSON that every journal and model can read, or are refused."""

import pytest

from sestet.core.message import plain


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")], ids=str)
def test_a_number_that_json_does_not_have_is_refused_at_any_depth(number: float) -> None:
    for value in (number, [number], {"a": [{"b": number}]}):
        with pytest.raises(ValueError, match="a number is not finite"):
            plain(value)


def test_half_a_character_becomes_a_question_mark_in_names_and_values() -> None:
    assert plain({"a\ud800": ("\udfff", 1.5)}) == {"a?": ["?", 1.5]}
