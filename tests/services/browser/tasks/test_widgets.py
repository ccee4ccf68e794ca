"""Tasks with controls that pages build themselves: lists, pickers, menus, editors, shadow roots, frames."""

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Answer, Received, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

#: A field and a button that tell the server what they hold, for a place of any kind.
SENDER = """<label>City <input id=city></label><button id=send>Tell</button>"""
TELLS = "send.onclick = () => fetch('/told', { method: 'POST', body: city.value });"


async def test_suggestions_of_a_field_are_chosen(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<label>City <input id=city role=combobox aria-expanded=false autocomplete=off></label>
        <ul id=list role=listbox style="list-style: none"></ul><script>
        let timer;
        city.oninput = () => { clearTimeout(timer); timer = setTimeout(async () => {
            const found = await (await fetch('/cities?q=' + city.value)).json();
            city.setAttribute('aria-expanded', 'true');
            list.innerHTML = found.map((name) => `<li role=option tabindex=-1>${name}</li>`).join('');
        }, 150); };
        list.onmousedown = (event) => event.preventDefault();
        list.onclick = (event) => {
            fetch('/chosen', { method: 'POST', body: event.target.textContent });
            city.value = event.target.textContent; list.innerHTML = '';
        }</script>"""

    def cities(received: Received) -> Answer:
        known = [name for name in ("Berlin", "Bern", "Paris") if name.startswith(received.query["q"][0])]
        return Answer(str(known).replace("'", '"'), kind="application/json")

    web.pages["/cities"] = cities
    await surfer.go(web.url())
    await surfer.fill(web.site, {"City": "Ber"})
    assert "option Bern]" in await surfer.read(wait_for="Bern")
    told = await surfer.submit(web.site, "Bern")

    assert "= Bern" in told
    assert [each.body for each in web.posts("/chosen")] == [b"Bern"]


async def test_a_list_that_is_made_of_divs_is_opened_and_chosen_from(surfer: Surfer, web: Web) -> None:
    web.pages[
        "/"
    ] = """<div id=box role=combobox tabindex=0 aria-expanded=false aria-label=Colour>Choose …</div>
        <div id=list role=listbox hidden><div role=option>Red</div><div role=option>Green</div></div><script>
        box.onclick = () => { list.hidden = !list.hidden; box.setAttribute('aria-expanded', !list.hidden); };
        list.onclick = (event) => {
            box.textContent = event.target.textContent; list.hidden = true;
            box.setAttribute('aria-expanded', 'false');
            fetch('/colour?is=' + event.target.textContent);
        }</script>"""
    assert "combobox Colour" in await surfer.go(web.url())
    assert "option Green]" in await surfer.click("Colour")
    told = await surfer.click("Green")

    assert "Green" in told
    assert [each.query for each in web.gets("/colour")] == [{"is": ["Green"]}]


async def test_a_day_is_chosen_in_a_calendar_of_the_page(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form method=post action=/book><label>Arrival <input id=day name=day readonly></label>
        <div id=calendar hidden><button type=button id=back aria-label="Previous month">&lsaquo;</button>
        <span id=title></span><button type=button id=on aria-label="Next month">&rsaquo;</button>
        <table><tbody id=days></tbody></table></div><button>Book</button></form><script>
        let month = 0;
        const show = () => {
            title.textContent = new Date(2026, month, 1).toLocaleString('en',
                { month: 'long', year: 'numeric' });
            const last = new Date(2026, month + 1, 0).getDate();
            days.innerHTML = '';
            for (let from = 1; from <= last; from += 7) {
                const row = days.insertRow();
                for (let d = from; d < from + 7 && d <= last; d++)
                    row.insertCell().innerHTML = `<button type=button>${d}</button>`;
            }
        };
        day.onclick = () => { calendar.hidden = false; show(); };
        on.onclick = () => { month++; show(); };
        back.onclick = () => { month--; show(); };
        days.onclick = (event) => {
            if (event.target.localName !== 'button') return;
            const two = (value) => String(value).padStart(2, '0');
            day.value = `2026-${two(month + 1)}-${two(event.target.textContent)}`;
            calendar.hidden = true;
        }</script>"""
    await surfer.go(web.url())
    assert "January 2026" in await surfer.click("Arrival")
    await surfer.click("Next month")
    assert "March 2026" in await surfer.click("Next month")
    assert "= 2026-03-14" in await surfer.click("14")
    await surfer.submit(web.site, "Book")

    assert [each.form for each in web.posts("/book")] == [{"day": ["2026-03-14"]}]


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_controls_in_a_shadow_root_are_filled_and_pressed(surfer: Surfer, web: Web, mode: str) -> None:
    web.pages["/"] = f"""<h1>Card</h1><my-card></my-card><script>
        customElements.define('my-card', class extends HTMLElement {{
            connectedCallback() {{
                const root = this.attachShadow({{ mode: '{mode}' }});
                root.innerHTML = `{SENDER}`;
                const [city, send] = [root.querySelector('input'), root.querySelector('button')];
                {TELLS}
            }}
        }})</script>"""
    assert "textbox City" in await surfer.go(web.url())
    await surfer.fill(web.site, {"City": "Bern"})
    await surfer.submit(web.site, "Tell")

    assert [each.body for each in web.posts("/told")] == [b"Bern"]


async def test_controls_in_shadow_roots_in_each_other_are_pressed(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<outer-box></outer-box><script>
        customElements.define('inner-box', class extends HTMLElement { connectedCallback() {
            const root = this.attachShadow({ mode: 'closed' });
            root.innerHTML = '<button>Deep</button>';
            root.firstChild.onclick = () => fetch('/deep');
        } });
        customElements.define('outer-box', class extends HTMLElement { connectedCallback() {
            this.attachShadow({ mode: 'closed' }).innerHTML = '<p>Outer</p><inner-box></inner-box>';
        } })</script>"""
    assert "button Deep]" in await surfer.go(web.url())
    await surfer.click("Deep")

    assert len(web.gets("/deep")) == 1


@pytest.mark.parametrize("place", ["same site", "other site", "srcdoc"])
async def test_controls_in_a_frame_are_filled_and_pressed(
    surfer: Surfer, web: Web, other: Web, place: str
) -> None:
    form = "<form method=post action=/sent><label>Card <input name=card></label><button>Pay</button></form>"
    owner = other if place == "other site" else web
    owner.pages["/frame"] = f"<p>In the frame</p>{form}"
    source = f'srcdoc="<p>In the frame</p>{form}"' if place == "srcdoc" else f"src={owner.url('/frame')}"
    web.pages["/"] = (
        f"<h1>Shop</h1><div style='height: 1500px'></div><iframe {source} width=500 height=300></iframe>"
    )
    assert "In the frame" in await surfer.go(web.url())

    await surfer.fill(owner.site, {"Card": "1234"})
    told = await surfer.submit(owner.site, "Pay")

    assert "Thanks, it was received." in told
    assert [each.form for each in owner.posts("/sent")] == [{"card": ["1234"]}]


async def test_a_frame_in_a_frame_of_another_site_is_used(surfer: Surfer, web: Web, other: Web) -> None:
    web.pages["/"] = f"<h1>Top</h1><iframe src={other.url('/middle')} width=600 height=400></iframe>"
    other.pages["/middle"] = f"<p>Middle</p><iframe src={web.url('/inner')} width=500 height=200></iframe>"
    web.pages["/inner"] = "<p>Inner</p><button onclick=\"fetch('/pressed')\">Press me</button>"

    assert "Inner" in await surfer.go(web.url())
    await surfer.click("Press me")

    assert len(web.gets("/pressed")) == 1


async def test_values_for_a_frame_of_another_site_need_its_name(surfer: Surfer, web: Web, other: Web) -> None:
    web.pages["/"] = f"<h1>Top</h1><iframe src={other.url('/frame')}></iframe>"
    other.pages["/frame"] = "<label>Card <input name=card></label>"
    await surfer.go(web.url())

    with pytest.raises(ToolError, match=f"belongs to '{other.site}', not to '{web.site}'"):
        await surfer.fill(web.site, {"Card": "1234"})


async def test_a_menu_that_opens_under_the_mouse_is_used(surfer: Surfer, web: Web) -> None:
    web.pages[
        "/"
    ] = """<style>nav ul { display: none } nav li:hover > ul, nav li:focus-within > ul { display: block }
        </style><nav><ul style="display: block"><li><a href=#products>Products</a><ul>
        <li><a href=/tea>Tea</a></li>
        <li><a href=/cups>Cups</a></li></ul></li></ul></nav>"""
    web.pages["/tea"] = "<h1>Teas</h1>"
    assert "Tea" not in await surfer.go(web.url())

    assert "Tea]" in await surfer.click("Products")
    assert "# Teas" in await surfer.click("Tea")
    assert len(web.gets("/tea")) == 1


async def test_a_menu_for_the_keyboard_alone_is_used(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<button id=menu aria-haspopup=menu>Actions</button><div role=menu id=list hidden>
        <div role=menuitem tabindex=-1>Archive</div><div role=menuitem tabindex=-1>Rename</div></div><script>
        const items = [...list.children];
        let at = 0;
        menu.onkeydown = (event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault(); event.stopPropagation(); list.hidden = false; items[at].focus();
        };
        list.onkeydown = (event) => {
            if (event.key === 'ArrowDown') items[at = (at + 1) % 2].focus();
            if (event.key === 'Enter') fetch('/did?what=' + items[at].textContent);
            if (event.key === 'Escape') { list.hidden = true; menu.focus(); }
        }</script>"""
    await surfer.go(web.url())
    await surfer.press("Tab", "ArrowDown")
    assert "Rename" in await surfer.read()
    await surfer.press("ArrowDown", "Enter")
    assert "- " in await surfer.press("Escape")

    assert [each.query for each in web.gets("/did")] == [{"what": ["Rename"]}]


async def test_tabs_and_folded_parts_of_a_page_are_opened(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<div role=tablist><button role=tab aria-selected=true>Photos</button>
        <button role=tab aria-selected=false onclick="price.hidden = false">Prices</button></div>
        <p id=price hidden>It costs 7 euro.</p>
        <details><summary>Delivery</summary><p>It takes two days. <a href=/more>More</a></p></details>"""
    web.pages["/more"] = "<h1>All about delivery</h1>"
    first = await surfer.go(web.url())
    assert "7 euro" not in first
    assert "two days" not in first

    assert "+ It costs 7 euro." in await surfer.click("Prices")
    assert "two days" in await surfer.click("Delivery")
    assert "# All about delivery" in await surfer.click("More")


async def test_a_slider_of_the_page_moves_with_keys(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<div id=slider role=slider tabindex=0 aria-label=Volume aria-valuenow=5
        style="width: 100px; height: 20px; background: silver"></div><script>
        slider.onkeydown = (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
            slider.setAttribute('aria-valuenow', +slider.getAttribute('aria-valuenow') + step);
            fetch('/volume?is=' + slider.getAttribute('aria-valuenow'));
        }</script>"""
    assert "slider Volume = 5" in await surfer.go(web.url())
    await surfer.click("Volume")

    assert "= 7" in await surfer.press("ArrowRight", "ArrowRight")
    assert web.gets("/volume")[-1].query == {"is": ["7"]}
