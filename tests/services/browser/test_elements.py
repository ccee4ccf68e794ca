"""A click hits what was read: refs are never reused, and an element that changed is refused."""

import pytest

from sestet.services.browser.connection import BrowserError
from sestet.services.browser.elements import find_element
from sestet.services.browser.page_script import call_script
from tests.services.browser.real_page import PageSite, RealPage

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(autouse=True)
def _first_ref(page: RealPage) -> None:
    page.next_ref = 1


async def refusal(page: RealPage, target: str, script: str = "") -> str:
    """What is said about a target after a script of the page has run."""
    reading = await page.read()
    if script:
        await page.run(script)
    with pytest.raises(BrowserError) as refused:
        await find_element(reading, target)
    return str(refused.value)


async def test_a_ref_gives_the_element_and_the_point_that_hits_it(page: RealPage) -> None:
    await page.set("<button onclick='document.title=\"hit\"'>Send</button>")
    element = await find_element(await page.read(), "e1")
    assert (element.role, element.name) == ("button", "Send")
    await page.click(element.x, element.y)
    assert await page.run("document.title") == "hit"


async def test_refs_stay_while_elements_stay_and_are_never_reused(page: RealPage) -> None:
    await page.set("<button>One</button><button id=two>Two</button>")
    assert (await page.read()).lines == ("[e1 button One][e2 button Two]",)
    await page.run(
        "document.getElementById('two').remove(); document.body.append(document.createElement('button'));"
    )
    await page.run("document.querySelector('button:last-child').textContent = 'Three'")
    assert (await page.read()).lines == ("[e1 button One][e3 button Three]",)
    await page.set("<button>Four</button>")
    assert (await page.read()).lines == ("[e4 button Four]",)


async def test_an_element_with_another_name_gets_another_ref(page: RealPage) -> None:
    await page.set("<button>Follow</button>")
    await page.read()
    await page.run("document.querySelector('button').textContent = 'Unfollow'")
    reading = await page.read()
    assert reading.lines == ("[e2 button Unfollow]",)
    with pytest.raises(BrowserError, match="e1 is no longer the button 'Follow' but the button 'Unfollow'"):
        await find_element(reading, "e1")


SWAPS = {
    "name": ("b.textContent = 'Delete all'", "e1 is no longer the button 'Send' but the button 'Delete all'"),
    "role": ("b.setAttribute('role', 'link')", "e1 is no longer the button 'Send' but the link 'Send'"),
    "gone": ("b.remove()", "e1 'Send' is no longer on the page; read the page again"),
    "replaced": ("b.outerHTML = '<button>Send</button>'", "e1 'Send' is no longer on the page"),
    "hidden": ("b.style.display = 'none'", "e1 'Send' cannot be seen any more"),
    "transparent": ("b.style.opacity = 0", "e1 'Send' cannot be seen any more"),
    "disabled": ("b.disabled = true", "e1 'Send' is disabled"),
    "covered": (
        "b.insertAdjacentHTML('afterend', '<div style=\"position:fixed;inset:0\">x</div>')",
        "e1 'Send' is covered by <div> x, so a click would not reach it",
    ),
    "moved away": ("b.style.cssText = 'position:fixed;left:-500px'", "e1 'Send' cannot be seen any more"),
}


@pytest.mark.parametrize(("script", "told"), SWAPS.values(), ids=SWAPS)
async def test_an_element_that_changed_is_refused(page: RealPage, script: str, told: str) -> None:
    await page.set("<button>Send</button>")
    assert told in await refusal(page, "e1", f"const b = document.querySelector('button'); {script}")


async def test_a_link_that_leads_to_another_host_now_is_refused(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = "<a href=/x>Docs</a>"
    await page.go(site.url("shop.test"))
    told = await refusal(page, "e1", "document.querySelector('a').href = 'https://evil.test/'")
    assert "e1 is no longer the link 'Docs' but the link 'Docs' -> evil.test" in told


async def test_an_unknown_ref_is_refused(page: RealPage) -> None:
    await page.set("<button>Send</button>")
    assert (
        await refusal(page, "e99")
        == "e99 is not on the page; read the page again, and use a ref of that reading"
    )


async def test_a_ref_of_a_page_that_was_left_is_refused(page: RealPage) -> None:
    await page.set("<button>Send</button>")
    await page.read()
    await page.set("<button>Other</button>")
    assert "e1 is not on the page" in await refusal(page, "e1")


async def test_a_text_that_stands_once_is_a_target(page: RealPage) -> None:
    await page.set("<p>Sign in</p><a href=/in>Sign  in</a> <a href=/up>Sign up</a>")
    element = await find_element(await page.read(), "sign in")
    assert (element.ref, element.name) == ("e1", "Sign in")


async def test_a_text_that_stands_twice_lists_the_refs(page: RealPage) -> None:
    await page.set("<button>Edit</button><p><button>Edit</button> <a href=https://x.test/>Edit</a>")
    told = await refusal(page, "Edit")
    assert told == (
        "'Edit' stands on the page 3 times: [e1 button Edit], [e2 button Edit], [e3 Edit] -> x.test; "
        "give the ref of one"
    )


async def test_a_text_that_is_not_there_suggests_what_is_near(page: RealPage) -> None:
    await page.set("<button>Send message</button>")
    assert await refusal(page, "Send") == (
        "there is no control or link 'Send' on the page; did you mean [e1 button Send message]?"
    )


async def test_a_whole_mark_is_taken_for_its_ref(page: RealPage) -> None:
    await page.set("<button>Send</button>")
    assert (await find_element(await page.read(), "[e1 button Send]")).ref == "e1"


async def test_an_element_below_the_window_is_scrolled_to(page: RealPage) -> None:
    await page.set("<div style='height:5000px'></div><button>Low</button>")
    element = await find_element(await page.read(), "Low")
    assert 0 < element.y < 700


async def test_the_second_line_of_a_link_is_hit_if_the_first_is_covered(page: RealPage) -> None:
    await page.set(
        "<div style='width:100px;position:relative'><a href=/x>some words that fill several lines</a>"
        "<div style='position:absolute;top:0;left:0;width:100px;height:18px'></div></div>"
    )
    assert (await find_element(await page.read(), "e1")).y > 18


async def test_a_field_that_its_label_draws_is_clicked_at_the_label(page: RealPage) -> None:
    await page.set(
        "<input style='position:absolute;opacity:0;width:1px;height:1px' type=checkbox id=i>"
        "<label for=i style='margin-left:100px'>I agree</label>"
    )
    element = await find_element(await page.read(), "I agree")
    await page.click(element.x, element.y)
    assert await page.run("document.getElementById('i').checked") is True


async def test_a_button_in_a_shadow_root_is_hit(page: RealPage) -> None:
    script = """
        for (const mode of ['open', 'closed']) {
            const root = document.getElementById(mode).attachShadow({ mode });
            root.innerHTML = `<button>${mode}</button>`;
            root.querySelector('button').onclick = () => { document.title += mode; };
        }
    """
    await page.set("<my-a id=open></my-a><my-b id=closed></my-b>", script=script)
    reading = await page.read()
    for name in ("open", "closed"):
        element = await find_element(reading, name)
        await page.click(element.x, element.y)
    assert await page.run("document.title") == "openclosed"


async def test_a_button_in_a_frame_of_another_site_is_found_there(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = f"<iframe src='{site.url('other.test', '/in')}'></iframe>"
    site.pages["/in"] = "<form action='https://pay.test/go' method=post><button>Pay</button></form>"
    await page.go(site.url("shop.test"))
    element = await find_element(await page.read(), "Pay")
    assert element.frame.id != page.frame.id
    assert element.submits
    assert element.posts
    assert element.action_host == "pay.test"
    assert await element.hold()


PURPOSES = {
    "link": ("<a href=/x target=_blank>Go</a>", {"is_link": True, "opens_tab": True, "submits": False}),
    "download": ("<a href=/x download>Go</a>", {"is_link": True, "downloads": True}),
    "plain button": ("<button>Go</button>", {"is_link": False, "submits": False, "action": ""}),
    "submit button": ("<form><button>Go</button></form>", {"submits": True, "posts": False}),
    "button that does not submit": (
        "<form method=post><button type=button>Go</button></form>",
        {"submits": False},
    ),
    "input": (
        "<form method=POST action=https://a.test/b><input type=submit value=Go></form>",
        {"posts": True},
    ),
    "own action": (
        "<form action=https://a.test/><button formaction=https://b.test/ formmethod=post>Go</button></form>",
        {"action_host": "b.test", "posts": True},
    ),
    "outside its form": (
        "<form id=f method=post></form><button form=f>Go</button>",
        {"submits": True, "posts": True},
    ),
    "form with misleading names": (
        "<form action=https://a.test/ method=post><input name=action hidden><input name=method hidden>"
        "<button>Go</button></form>",
        {"action_host": "a.test", "posts": True},
    ),
    "image button": ("<form><input type=image alt=Go width=20 height=20></form>", {"submits": True}),
    "file": ("<label>Go <input type=file multiple></label>", {"type": "file", "multiple": True}),
    "password": ("<label>Go <input type=password></label>", {"type": "password", "is_secret": True}),
    "select": ("<label>Go <select><option>a<option>b</select></label>", {"options": ("a", "b")}),
}


@pytest.mark.parametrize(("html", "purpose"), PURPOSES.values(), ids=PURPOSES)
async def test_the_purpose_of_an_element_is_told(
    page: RealPage, site: PageSite, html: str, purpose: dict[str, object]
) -> None:
    site.pages["/"] = html
    await page.go(site.url("shop.test"))
    element = await find_element(await page.read(), "Go")
    assert {name: getattr(element, name) for name in purpose} == purpose


async def test_a_click_that_something_else_catches_is_stopped(page: RealPage) -> None:
    """The page puts another button under the mouse after the check, and before the click."""
    await page.set("<button>Send</button>")
    element = await find_element(await page.read(), "e1")
    await call_script(element.frame, "guard", element.ref)
    await page.run(
        "const b = document.querySelector('button'); const other = document.createElement('button');"
        "other.textContent = 'Delete all'; other.style.cssText = 'position:fixed;inset:0';"
        "other.onclick = () => { document.title = 'deleted'; }; document.body.append(other);"
    )
    await page.click(element.x, element.y)
    assert await page.run("document.title") == ""
    assert (await call_script(element.frame, "guarded"))["strays"]


async def test_a_click_that_hits_passes_its_guard(page: RealPage) -> None:
    await page.set("<button onclick='document.title=\"hit\"'>Send</button>")
    element = await find_element(await page.read(), "e1")
    await call_script(element.frame, "guard", element.ref)
    await page.click(element.x, element.y)
    assert await page.run("document.title") == "hit"
    assert not (await call_script(element.frame, "guarded"))["strays"]
