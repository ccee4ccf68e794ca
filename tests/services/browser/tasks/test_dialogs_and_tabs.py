"""Tasks with boxes of the browser, windows that pages open, histories and addresses that change."""

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ASKS = """<button onclick="alert('Saved!'); fetch('/alerted')">Alert</button>
    <button onclick="fetch('/confirmed?is=' + confirm('Delete all?'), { method: 'POST' })">Delete</button>
    <button onclick="fetch('/named?is=' + prompt('Your name?'), { method: 'POST' })">Name</button>"""


async def test_what_an_alert_says_is_told(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = ASKS
    await surfer.go(web.url())

    assert "(The page said: 'Saved!')" in await surfer.click("Alert")
    assert len(web.gets("/alerted")) == 1


async def test_a_question_is_answered_as_the_call_says_and_with_no_otherwise(
    surfer: Surfer, web: Web
) -> None:
    web.pages["/"] = ASKS
    await surfer.go(web.url())

    told = await surfer.submit(web.site, "Delete")
    assert "(The page asked: 'Delete all?'; the answer was no.)" in told
    told = await surfer.submit(web.site, "Delete", answer="yes")
    assert "the answer was yes" in told

    assert [each.query["is"] for each in web.posts("/confirmed")] == [["false"], ["true"]]


async def test_a_question_for_a_text_gets_the_text(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = ASKS
    await surfer.go(web.url())
    await surfer.submit(web.site, "Name")
    await surfer.submit(web.site, "Name", answer="Ada Lovelace")

    assert [each.query["is"] for each in web.posts("/named")] == [["null"], ["Ada Lovelace"]]


async def test_a_page_that_does_not_want_to_be_left_is_left(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<h1>Trap</h1><label>Text <input></label><script>
        onbeforeunload = (event) => { event.preventDefault(); return 'Stay!'; }</script>"""
    web.pages["/next"] = "<h1>Free</h1>"
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Text": "so that the page may ask"})

    assert "# Free" in await surfer.go(web.url("/next"))


async def test_printing_does_not_hold_the_page(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<button onclick=\"print(); fetch('/printed')\">Print</button>"
    await surfer.go(web.url())
    await surfer.click("Print")

    assert len(web.gets("/printed")) == 1


async def test_a_link_into_a_new_tab_is_followed_and_come_back_from(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<h1>First</h1><a href=/two target=_blank>Open</a><a href=/three>Third</a>"
    web.pages |= {"/two": "<h1>Second</h1>", "/three": "<h1>Third page</h1>"}
    await surfer.go(web.url())

    told = await surfer.click("Open")
    assert "A new tab t2 opened" in told
    assert "# Second" in told
    assert "# First" in await surfer.tab("t1")
    assert "# Third page" in await surfer.click("Third")
    told = await surfer.tab("t1", close=True)
    assert "# Second" in told
    with pytest.raises(ToolError, match="there is no tab 't1'; open are t2"):
        await surfer.tab("t1")


async def test_a_window_of_a_script_is_used_and_answers_its_opener(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<button onclick="open('/pick', '', 'width=300,height=300')">Pick</button><p id=p></p>
        <script>onmessage = (event) => { p.textContent = 'Picked ' + event.data; }</script>"""
    web.pages["/pick"] = (
        """<h1>Colours</h1><button onclick="opener.postMessage('green'); window.close()">Green</button>"""
    )
    await surfer.go(web.url())
    assert "# Colours" in await surfer.click("Pick")
    await surfer.click("Green")

    assert "Picked green" in await surfer.read()


async def test_going_back_shows_the_page_before(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<h1>One</h1><a href=/two>To two</a>"
    web.pages["/two"] = "<h1>Two</h1><a href=/three>To three</a>"
    web.pages["/three"] = "<h1>Three</h1>"
    await surfer.go(web.url())
    await surfer.click("To two")
    await surfer.click("To three")

    assert "# Two" in await surfer.back()
    assert "# One" in await surfer.back()
    with pytest.raises(ToolError, match="no page before"):
        await surfer.back()


async def test_a_page_that_fills_the_history_does_not_hold_the_browser(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<h1>Start</h1><a href=/trap>Trap</a>"
    web.pages["/trap"] = """<h1>Trap</h1><script>
        for (let n = 0; n < 40; n++) history.pushState(n, '', '/trap?' + n);
        onpopstate = () => history.pushState(0, '', '/trap?again')</script>"""
    await surfer.go(web.url())
    await surfer.click("Trap")

    assert "# Trap" in await surfer.back()
    assert "# Start" in await surfer.go(web.url())


SINGLE = """<nav><a href=#list>List</a> <a href=/detail data-go>Detail</a></nav><main id=view></main><script>
    const render = () => {
        const where = location.pathname === '/detail' ? 'Detail' : location.hash ? 'List' : 'Home';
        document.title = where;
        view.innerHTML = `<h2>${where} view</h2>`;
        fetch('/rendered?what=' + where);
    };
    document.onclick = (event) => {
        if (!event.target.matches('[data-go]')) return;
        event.preventDefault();
        history.pushState({}, '', event.target.href);
        setTimeout(render, 60);
    };
    onhashchange = render; onpopstate = render; render()</script>"""


async def test_a_page_that_renders_its_own_addresses_is_walked_through(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = SINGLE
    assert "## Home view" in await surfer.go(web.url())

    assert "+ ## List view" in await surfer.click("List")
    told = await surfer.click("Detail")
    assert "+ ## Detail view" in told
    assert web.url("/detail") in told
    assert "## List view" in await surfer.back()
    rendered = dict.fromkeys(each.query["what"][0] for each in web.gets("/rendered"))
    assert list(rendered) == ["Home", "List", "Detail"]
    assert len(web.gets("/")) == 1


async def test_an_address_with_a_fragment_opens_its_view(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = SINGLE
    assert "## List view" in await surfer.go(web.url("/#list"))
    web.pages["/detail"] = SINGLE
    assert "## Detail view" in await surfer.go(web.url("/detail"))


@pytest.mark.parametrize("target", ["_self", "_blank"])
async def test_a_link_that_is_clicked_loads_slowly_and_is_waited_for(
    surfer: Surfer, web: Web, target: str
) -> None:
    web.pages |= {
        "/": f"<a href=/slow target={target}>Slow</a>",
        "/slow": Answer("<h1>Here it is</h1>", late=2.5),
    }
    await surfer.go(web.url())

    assert "# Here it is" in await surfer.click("Slow")
