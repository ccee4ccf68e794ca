"""The page's types of the events."""

from scripts.event_types import render_event_types
from sestet.core.record import as_builtins
from sestet.core.seen import Seen


def test_a_field_that_is_left_out_when_it_is_empty_is_optional_for_the_page() -> None:
    assert as_builtins(Seen("abc")) == {"prompt": "abc"}
    assert (
        "export interface Seen {\n  prompt?: string;\n  follows?: boolean;\n  parts?: readonly SeenPart[];\n}"
        in render_event_types()
    )
