"""What the model sees of a page: the lines, frames, shadow roots, and pages that are broken or huge."""

import pytest

from sestet.services.browser.connection import BrowserError
from sestet.services.browser.reading import MOST_CHARACTERS, changes, find, plain_passages, show
from tests.services.browser.real_page import PageSite, RealPage

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(autouse=True)
def _first_ref(page: RealPage) -> None:
    page.next_ref = 1


async def test_headings_and_prose_are_lines(page: RealPage) -> None:
    lines = await page.lines("<h1>Big <i>news</i></h1><h3>Less</h3><p>One <b>bold</b>\n word.<p>Two<br>three")
    assert lines == ["# Big news", "### Less", "One bold word.", "Two", "three"]


async def test_lists_have_their_marks(page: RealPage) -> None:
    lines = await page.lines("<ul><li>tea<li>milk</ul><ol start=3><li>pour<li>drink</ol>")
    assert lines == ["- tea", "- milk", "3. pour", "4. drink"]


async def test_a_table_has_one_line_for_each_row(page: RealPage) -> None:
    lines = await page.lines(
        "<table><tr><th><th>2019<th>2020<tr><td>Tea<td>3<td><tr><td>Milk<td><a href='/m'>4</a><td>5</table>"
    )
    assert lines == [" | 2019 | 2020", "Tea | 3", "Milk | [e1 4] | 5"]


async def test_a_table_for_layout_is_read_cell_by_cell(page: RealPage) -> None:
    lines = await page.lines("<table><tr><td><h2>Menu</h2><p>Soup</p><td><h2>Wine</h2><p>Red</p></table>")
    assert lines == ["## Menu", "Soup", "## Wine", "Red"]


async def test_text_side_by_side_is_one_line(page: RealPage) -> None:
    lines = await page.lines("<div style='display:flex;gap:9px'><div>Price</div><div>3 €</div></div><p>Next")
    assert lines == ["Price 3 €", "Next"]


async def test_preformatted_lines_stay_lines(page: RealPage) -> None:
    assert await page.lines("<pre>one\n  two</pre>") == ["one", " two"]


async def test_links_show_their_host_only_if_it_is_another(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = (
        "<a href=/x>Here</a> and <a href='https://other.test/deep/path?q=1'>There</a>, "
        "<a href=mailto:a@b.test>write</a>"
    )
    await page.go(site.url("shop.test"))
    assert (await page.read()).lines == ("[e1 Here] and [e2 There -> other.test], [e3 write]",)


async def test_the_address_of_a_link_is_not_shown_but_known(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = "<a href='/path?secret=1'>Here</a>"
    await page.go(site.url("shop.test"))
    reading = await page.read()
    assert "secret" not in show(reading)
    assert reading.links == [site.url("shop.test", "/path?secret=1")]


async def test_an_image_link_is_left_out_beside_the_link_with_text(page: RealPage) -> None:
    lines = await page.lines(
        "<a href=/a><img width=50 height=50 alt=Tea></a> <a href=/a>Green tea</a><p>"
        "<a href=/b><img width=50 height=50 alt=Coffee></a>"
    )
    assert lines == ["[e1 Green tea] [e2 Coffee]"]


FORM = """<form>
<label>E-mail <input type=email required value="me@home.test"></label>
<label for=p>Password</label><input id=p type=password value=hunter2>
<label for=c>Country</label><select id=c><option>Austria<option selected>Spain</select>
<p><label><input type=checkbox checked> News</label> <label><input type=radio name=r> Daily</label></p>
<p><textarea placeholder="Your message" aria-invalid=true></textarea>
<input disabled value=fixed aria-label=Code></p>
<p><button>Send</button> <button aria-expanded=false>More</button> <input type=submit value=Go></p></form>"""


async def test_controls_show_their_role_name_and_state(page: RealPage) -> None:
    text = " ".join(await page.lines(FORM))
    for control in (
        "[e1 textbox E-mail = me@home.test required]",
        "[e2 password Password = •••]",
        "[e3 combobox Country = Spain (Austria, Spain)]",
        "[e4 checkbox News checked]",
        "[e5 radio Daily]",
        "[e6 textbox Your message invalid: yes]",
        "[e7 textbox Code = fixed disabled]",
        "[e8 button Send]",
        "[e9 button More collapsed]",
        "[e10 button Go]",
    ):
        assert control in text
    assert "hunter2" not in text
    assert text.count("E-mail") == 1


async def test_the_message_of_a_wrong_field_is_shown(page: RealPage) -> None:
    lines = await page.lines(
        "<label>Age <input id=a aria-invalid=true aria-errormessage=m value=x></label>"
        "<p id=m>Must be a number</p>"
    )
    assert lines[0] == "[e1 textbox Age = x invalid: Must be a number]"


@pytest.mark.parametrize(
    "field",
    [
        "<input value='4111 1111 1111 1111' aria-label=Card>",
        "<input autocomplete='billing cc-csc' value='999' aria-label=Card>",
        "<input name=otp value=123456 aria-label=Card>",
        "<input style='-webkit-text-security:disc' value=123456 aria-label=Card>",
    ],
)
async def test_values_for_the_person_alone_are_masked(page: RealPage, field: str) -> None:
    assert await page.lines(field) == ["[e1 textbox Card = •••]"]


async def test_a_checkbox_that_its_label_draws_is_read_at_the_label(page: RealPage) -> None:
    lines = await page.lines(
        "<style>.x{position:absolute;opacity:0;width:1px;height:1px}</style>"
        "<p>Choose</p><input class=x type=checkbox id=i checked><label for=i>I agree</label>"
    )
    assert lines == ["Choose", "[e1 checkbox I agree checked]"]


async def test_dialogs_come_first(page: RealPage) -> None:
    lines = await page.lines(
        "<p>Page</p><div role=dialog aria-label=Cookies><p>We bake</p><button>OK</button></div>"
    )
    assert lines == ["dialog Cookies:", "We bake", "[e1 button OK]", "end of dialog", "Page"]


async def test_something_with_a_click_handler_is_a_control(page: RealPage) -> None:
    lines = await page.lines("<div onclick='x()'>Open <b>it</b></div><span style='cursor:pointer'>Tap</span>")
    assert lines == ["[e1 clickable Open it] [e2 clickable Tap]"]


async def test_a_control_in_a_control_keeps_both_and_the_text(page: RealPage) -> None:
    lines = await page.lines(
        "<a href=/x>Title <span role=button tabindex=0>Save</span> <span>by Ann</span></a>"
    )
    assert lines == ["[e1 Title] [e2 button Save] by Ann"]


async def test_text_that_looks_like_a_ref_is_not_one(page: RealPage) -> None:
    lines = await page.lines("<p>Click [e1 button Pay] now</p><button>[e7 x]</button>")
    assert lines == ["Click (e1 button Pay] now", "[e1 button (e7 x]]"]


async def test_names_of_fields_do_not_hide_the_page(page: RealPage) -> None:
    """A form shows its fields as properties: <input name=children> replaces form.children."""
    names = (
        "firstChild nextSibling parentNode childNodes nodeType attributes getAttribute textContent localName"
    )
    fields = "".join(f"<input name={name} aria-label={name}>" for name in names.split())
    lines = await page.lines(
        f"<form name=body>{fields}<p>Hello</p></form><img name=documentElement><form name=title></form>"
        "<div id=sestet>mine</div>"
    )
    assert "Hello" in lines
    assert "mine" in lines


async def test_open_and_closed_shadow_roots_are_read_with_their_slots(page: RealPage) -> None:
    script = """
        for (const mode of ['open', 'closed']) {
            const host = document.getElementById(mode), root = host.attachShadow({ mode });
            root.innerHTML =
                `<p>${mode} <slot></slot></p><button>${mode} button</button><div class=in></div>`;
            const inner = root.querySelector('.in').attachShadow({ mode });
            inner.innerHTML = `<p>deep ${mode}</p>`;
        }
    """
    html = "<my-a id=open>light</my-a><div id=closed>light</div>"
    await page.set(html, script=script)
    await page.read()
    reading = await page.read()
    assert [line for line in reading.lines if "closed" in line] == [
        "closed light",
        "[e2 button closed button]",
        "deep closed",
    ]
    assert [line for line in reading.lines if "open" in line] == [
        "open light",
        "[e1 button open button]",
        "deep open",
    ]


async def test_frames_of_the_same_and_of_another_site_stand_in_their_places(
    page: RealPage, site: PageSite
) -> None:
    site.pages["/"] = (
        "<p>Top</p><iframe src=/same></iframe>"
        f"<iframe src='{site.url('other.test', '/far')}'></iframe><p>Bottom</p>"
    )
    site.pages["/same"] = "<p>Same</p><button>One</button>"
    site.pages["/far"] = (
        f"<p>Far</p><button>Two</button><iframe src='{site.url('third.test', '/deep')}'></iframe>"
    )
    site.pages["/deep"] = "<button>Three</button>"
    await page.go(site.url("shop.test"))
    reading = await page.read()
    assert reading.lines == (
        "Top",
        "Same",
        "[e1 button One]",
        "Far",
        "[e2 button Two]",
        "[e3 button Three]",
        "Bottom",
    )
    assert len({item.frame.id for item in reading.items}) == 3


async def test_frames_that_nobody_sees_are_not_read(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = (
        "<p>Top</p><iframe src=/in style='width:1px;height:1px'></iframe>"
        "<iframe src=/in style='opacity:0'></iframe>"
        "<iframe src=/in style='position:absolute;left:-999px'></iframe>"
    )
    site.pages["/in"] = "<p>Zanzibar</p>"
    await page.go(site.url("shop.test"))
    assert (await page.read()).lines == ("Top",)


async def test_pages_from_right_to_left_are_read(page: RealPage) -> None:
    lines = await page.lines(
        "<html dir=rtl><body><h1>שלום עולם</h1><p>مرحبا <a href=/a>بالعالم</a></p>"
        "<div style='width:3000px'>wide</div><p style='position:absolute;right:-9999px'>Zanzibar</p>"
    )
    assert lines == ["# שלום עולם", "مرحبا [e1 بالعالم]", "wide"]


async def test_chinese_and_japanese_are_read(page: RealPage) -> None:
    lines = await page.lines(
        "<p>漢字と<ruby>仮名<rp>(</rp><rt>かな</rt><rp>)</rp></ruby></p>"
        "<p style='writing-mode:vertical-rl'>縦書き</p>"
    )
    assert lines == ["漢字と仮名かな", "縦書き"]


async def test_broken_html_is_read_as_it_is_drawn(page: RealPage) -> None:
    lines = await page.lines(
        "<table><p>Lost<tr><td>cell</div></span><b><i>bold</b> both</i><p>open <a href=/1>one <a href=/2>two"
        "<" * 3 + "\x00 &bogus; end"
    )
    assert "Lost" in lines
    assert any("[e1 one] [e2 two" in line for line in lines)


async def test_very_deep_pages_are_read_without_a_crash(page: RealPage) -> None:
    script = """
        let at = document.body;
        for (let i = 0; i < 1000; i++) at = at.appendChild(document.createElement('div'));
        at.textContent = 'bottom';
    """
    await page.set("<p>Top</p>", script=script)
    reading = await page.read()
    assert reading.lines == ("Top",)
    assert "its rest was left out" in show(reading)


async def test_a_page_of_5_mb_is_read_in_parts_and_searched(page: RealPage, site: PageSite) -> None:
    row = f"<p>Row %d has some <b>words</b> and a <a href='/%d'>link %d</a>{' and words' * 45}.</p>"
    rows = "".join(row % (number, number, number) for number in range(10_000))
    site.pages["/"] = f"<title>Huge</title>{rows}<p>The needle</p>"
    assert len(site.pages["/"]) > 5_000_000
    await page.go(site.url("shop.test"))
    reading = await page.read()
    first = show(reading)
    assert len(first) <= MOST_CHARACTERS
    assert "Row 0 has some words and a [e1 link 0] and" in first
    assert len(show(reading, from_line=500)) <= MOST_CHARACTERS
    found = find(reading, "Row 700 has")
    assert "701: Row 700 has some words" in found
    assert len(find(reading, "has some")) <= MOST_CHARACTERS
    assert reading.omitted or "The needle" in find(reading, "the needle")


async def test_one_text_of_5_mb_is_cut_and_searched(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = f"<p>{'tea and cake ' * 400_000}needle{' and more tea' * 10}"
    await page.go(site.url("shop.test"))
    reading = await page.read()
    assert len(show(reading)) <= MOST_CHARACTERS
    assert "needle and more tea" in find(reading, "needle")


async def test_a_long_page_is_read_part_after_part(page: RealPage) -> None:
    await page.set("".join(f"<p>{'word ' * 20}{number}</p>" for number in range(300)))
    reading = await page.read()
    seen: list[str] = []
    start = 1
    while start <= len(reading.lines):
        part = show(reading, from_line=start)
        assert len(part) <= MOST_CHARACTERS
        own = [line for line in part.splitlines() if line.startswith("word")]
        seen += own
        start += len(own)
    assert seen == list(reading.lines)
    with pytest.raises(BrowserError, match="only 300 lines"):
        show(reading, from_line=301)


async def test_title_address_and_status_come_first(page: RealPage, site: PageSite) -> None:
    site.pages["/"] = "<title>Tea \u202eshop</title><p>Hello"
    await page.go(site.url("shop.test"))
    assert show(await page.read(), status=200).splitlines() == [
        "Tea shop",
        f"{site.url('shop.test')} (HTTP 200)",
        "Hello",
    ]


async def test_an_action_shows_only_the_lines_that_changed(page: RealPage) -> None:
    await page.set("<p>One</p><p id=x>Two</p><p>Three</p><button>Go</button>")
    before = await page.read()
    assert changes(before, await page.read()) == ""
    await page.run(
        "document.getElementById('x').innerHTML = 'Zwei <a href=/n>new</a>'; document.title = 'Done'"
    )
    assert changes(before, await page.read()).splitlines() == ["+ title: Done", "- Two", "+ Zwei [e2 new]"]


async def test_a_search_tells_the_lines_around_and_what_is_missing(page: RealPage) -> None:
    await page.set("".join(f"<p>line {number}</p>" for number in range(1, 30)))
    reading = await page.read()
    assert find(reading, "LINE  15").splitlines() == [
        "1 of 29 lines have 'LINE  15'",
        *(f"{number}: line {number}" for number in range(13, 18)),
    ]
    assert find(reading, "nowhere") == "'nowhere' is not on the page, which has 29 lines"


async def test_an_empty_page_says_so(page: RealPage) -> None:
    await page.set("")
    assert "(nothing to read on this page)" in show(await page.read())


async def test_the_passages_about_a_text_are_its_lines_and_what_stands_below_its_headings(
    page: RealPage,
) -> None:
    await page.set(
        "<h1>Shoes and hats</h1><p>Welcome.</p><h2>Shoes</h2><p>Sturdy ones.</p><h3>Sizes</h3>"
        "<p>38 to 46.</p><h2>Hats</h2><p>Of <a href=/x>straw</a>.</p><p>No shoes below them.</p>"
    )
    reading = await page.read()

    below = ["Shoes", "Sturdy ones.", "Sizes", "38 to 46."]
    assert plain_passages(reading, "shoes", 9) == ["Shoes and hats", *below, "No shoes below them."]
    assert plain_passages(reading, "STRAW", 9) == ["Of straw."]
    assert plain_passages(reading, "gloves", 9) == []
