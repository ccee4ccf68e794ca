"""Which addresses are opened after private reading, and who reads what about a refusal."""

from typing import cast

import pytest

from sestet.core.label import Label
from sestet.core.tool import CallInfo
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.permission import require_address
from sestet.services.browser.window import Window

URL = "https://example.com/"
#: Private content decides before any window is looked at.
WINDOW = cast("Window", None)


@pytest.mark.parametrize(
    ("words", "told"),
    [("open my bank", "your message does not name"), ("", "nobody at a terminal named")],
)
def test_only_the_model_reads_which_tool_asks_the_person(words: str, told: str) -> None:
    call = CallInfo("s", "t", "navigator", "c", Label(private=True), words)

    with pytest.raises(BrowserError, match="browser_visit") as refused:
        require_address(call, WINDOW, URL)

    assert refused.value.for_person == f"not opened: private content was read before, and {told} {URL}"
