"""A frame whose document goes while Sestet works in it."""

from collections.abc import Mapping

import pytest

from sestet.services.browser.connection import BrowserError, Message
from sestet.services.browser.frames import Frame, PageMovedError
from tests.services.browser.real_page import RealPage

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

_SENTENCE = "the page loads anew faster than it can be read; try again, or open another page"


class Restless(Frame):
    """A frame whose page loads anew as soon as Sestet has a world in it."""

    page: RealPage

    async def send(self, method: str, params: Mapping[str, object]) -> Message:
        answer = await super().send(method, params)
        if method == "Page.createIsolatedWorld":
            await self.page.go("about:blank")
        return answer


async def test_a_page_that_always_loads_anew_is_told_in_a_sentence(page: RealPage) -> None:
    calm = page.frame
    frame = Restless(page.connection, calm.session, calm.id, lambda _: "")
    frame.page = page

    with pytest.raises(PageMovedError) as caught:
        await frame.call("() => 1")

    assert str(caught.value) == _SENTENCE


async def test_a_function_that_is_cut_off_is_not_begun_again(page: RealPage) -> None:
    await page.set("<p>here")

    with pytest.raises(BrowserError) as caught:
        await page.frame.call("() => { location.reload(); return new Promise(() => {}); }")

    assert str(caught.value) == "the page moved on meanwhile; read it again"


async def test_an_element_of_a_page_that_is_gone_is_told_in_a_sentence(page: RealPage) -> None:
    await page.set("<p>here")
    frame = page.frame
    held = await frame.hold("() => document.body")
    await page.go("about:blank")

    with pytest.raises(PageMovedError) as caught:
        await frame.call_on(held, "function () { return this.tagName; }")

    assert str(caught.value) == _SENTENCE


async def test_a_page_that_has_moved_on_once_is_read_anew(page: RealPage) -> None:
    await page.set("<p>before")
    frame = page.frame
    assert await frame.call("() => document.body.innerText") == "before"

    await page.set("<p>after")

    assert await frame.call("() => document.body.innerText") == "after"
