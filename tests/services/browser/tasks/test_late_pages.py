"""Tasks on pages that are not ready when they are opened: rendered late, slow, broken, without end."""

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Received, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_page_that_a_timer_renders_is_waited_for(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<div id=root></div><script>setTimeout(() => {
        root.innerHTML = '<h1>Orders</h1><button onclick="fetch(\\'/seen\\')">Show</button>';
    }, 250)</script>"""

    assert "# Orders" in await surfer.go(web.url())
    await surfer.click("Show")

    assert len(web.gets("/seen")) == 1


async def test_a_skeleton_is_replaced_by_what_a_slow_fetch_brings(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<h1>Prices</h1><div id=list aria-busy=true><p>Loading …</p></div><script>
        fetch('/prices.json').then((r) => r.json()).then((prices) => {
            list.innerHTML = prices.map((p) => `<p>${p.name}: ${p.euro} €</p>`).join('');
        })</script><p>Everything that we have, in one list, with all taxes and the usual words below it."""
    prices = '[{"name": "tea", "euro": 4}, {"name": "cups", "euro": 12}]'
    web.pages["/prices.json"] = Answer(prices, kind="application/json", late=1.5)

    first = await surfer.go(web.url())
    told = await surfer.read(wait_for="cups: 12")

    assert "Loading" in first or "tea: 4 €" in first
    assert "tea: 4 €" in told
    assert "Loading" not in told


async def test_a_text_that_never_comes_is_told_after_a_while(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<p>Nothing here."
    await surfer.go(web.url())

    with pytest.raises(ToolError, match=r"'Paid' did not appear within \d+ seconds"):
        await surfer.read(wait_for="Paid")


async def test_a_list_without_end_loads_more_on_scrolling(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<style>p { height: 200px }</style><div id=list></div><div id=end>…</div><script>
        let page = 0;
        new IntersectionObserver(async ([seen]) => {
            if (!seen.isIntersecting) return;
            const rows = await (await fetch(`/rows?page=${++page}`)).json();
            for (const row of rows) list.insertAdjacentHTML('beforeend', `<p>${row}</p>`);
        }, { rootMargin: '50px' }).observe(end)</script>"""

    def rows(received: Received) -> Answer:
        first = int(received.query["page"][0]) * 10
        return Answer(str([f"row {first + each}" for each in range(10)]).replace("'", '"'))

    web.pages["/rows"] = rows

    assert "row 19" in await surfer.go(web.url())
    for _ in range(5):
        told = await surfer.scroll("bottom")
        if "row 39" in told:
            break

    assert "row 39" in await surfer.read()
    assert [each.query["page"] for each in web.gets("/rows")][:3] == [["1"], ["2"], ["3"]]


async def test_a_slow_answer_is_waited_for(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = Answer("<h1>At last</h1>", late=3.0)

    assert "# At last" in await surfer.go(web.url())


async def test_a_page_whose_picture_never_comes_is_read(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<h1>Text</h1><img src=/slow.png alt=Picture width=50 height=50>"
    web.pages["/slow.png"] = Answer(late=30.0, kind="image/png")

    assert "# Text" in await surfer.go(web.url())


@pytest.mark.parametrize("status", [404, 410, 500, 503])
async def test_a_page_of_an_error_is_read_with_its_status(surfer: Surfer, web: Web, status: int) -> None:
    web.pages["/"] = Answer("<h1>Something is wrong</h1>", status)

    told = await surfer.go(web.url())

    assert f"(HTTP {status})" in told
    assert "# Something is wrong" in told


async def test_an_empty_page_of_an_error_is_told_with_its_status(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = Answer("", 502)

    assert "502" in await surfer.go(web.url())


async def test_a_connection_that_breaks_is_told_and_the_next_page_opens(surfer: Surfer, web: Web) -> None:
    web.pages |= {"/broken": Answer(status=0), "/": "<h1>Fine</h1>"}

    told = await surfer.go(web.url("/broken"))

    assert "the server ended the connection without an answer" in told
    assert "# Fine" in await surfer.go(web.url())


async def test_what_came_of_a_page_that_breaks_off_is_read(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = Answer("<h1>First half</h1><p>and then", breaks=True)

    assert "# First half" in await surfer.go(web.url())


async def test_broken_html_is_read_and_used(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = (
        "<table><form method=post action=/send><tr><td><b>Name<td><input name=who title=Name></b></i>"
        "<tr><td colspan=x><button>Send</table></form></div><p <b>after &amp &#x1F600 &nosuch; <![CDATA[x]]>"
    )
    told = await surfer.go(web.url())
    assert "after & 😀 &nosuch;" in told

    await surfer.fill(web.site, {"Name": "Ada"})
    await surfer.submit(web.site, "Send")

    assert [each.form for each in web.posts("/send")] == [{"who": ["Ada"]}]


async def test_redirects_are_followed_to_the_page(surfer: Surfer, web: Web, other: Web) -> None:
    web.pages["/"] = Answer(status=302, headers={"Location": "/two"})
    web.pages["/two"] = Answer("<script>location.replace('/three')</script>")
    web.pages["/three"] = Answer(f'<meta http-equiv=refresh content="0; url={other.url("/end")}">')
    other.pages["/end"] = "<h1>The end</h1>"

    told = await surfer.go(web.url())

    assert "# The end" in told
    assert other.url("/end") in told


async def test_redirects_in_a_circle_are_told(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = Answer(status=302, headers={"Location": "/"})

    with pytest.raises(ToolError, match="redirects in a circle"):
        await surfer.go(web.url())


async def test_a_page_is_opened_while_the_last_one_still_loads(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<a href=/slow>Slow</a> <h1>Start</h1><script src=/never.js async></script>"
    web.pages["/never.js"] = Answer(late=25.0, kind="text/javascript")
    web.pages["/next"] = "<h1>Next</h1>"

    assert "# Start" in await surfer.go(web.url())
    assert "# Next" in await surfer.go(web.url("/next"))


async def test_a_page_that_comes_again_in_the_place_of_the_wanted_one_is_left(
    surfer: Surfer, web: Web
) -> None:
    """As a page does that reloads without end, if its reload begins while the other page comes."""
    web.pages["/"] = "<h1>Here</h1>"

    def calm(_: Received) -> Answer:
        is_first = len(web.gets("/calm")) == 1
        return Answer("<script>location.replace('/')</script>" if is_first else "<h1>Calm</h1>")

    web.pages["/calm"] = calm
    await surfer.go(web.url())

    assert "# Calm" in await surfer.go(web.url("/calm"))
    assert "# Here" in await surfer.go(web.url())
