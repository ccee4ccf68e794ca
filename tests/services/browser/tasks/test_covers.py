"""Tasks on pages where something is in the way: banners, modal boxes, bars that stay, parts that scroll."""

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_banner_over_the_page_is_closed_first(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<button onclick="fetch('/bought')">Buy</button>
        <div id=banner style="position: fixed; inset: 0; background: white">We use cookies.
        <button onclick="banner.remove()">Only necessary</button></div>"""
    told = await surfer.go(web.url())
    assert "We use cookies." in told
    assert "Buy" not in told

    assert "button Buy]" in await surfer.click("Only necessary")
    await surfer.click("Buy")
    assert len(web.gets("/bought")) == 1


async def test_what_a_clear_layer_covers_is_not_clicked(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<button onclick="fetch('/bought')">Buy</button>
        <div style="position: fixed; inset: 0" onclick="fetch('/layer')"></div>"""
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="'Buy' is covered"):
        await surfer.click("Buy")
    assert not web.gets("/bought")
    assert not web.gets("/layer")


async def test_a_modal_box_is_read_first_and_answered(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<h1>Files</h1><button onclick="box.showModal()">Remove</button>
        <dialog id=box aria-label=Question><p>Really remove it?</p><form method=dialog>
        <button value=no>Keep</button><button value=yes>Remove it</button></form></dialog><script>
        box.onclose = () => fetch('/answer?is=' + box.returnValue)</script>"""
    await surfer.go(web.url())
    assert "Really remove it?" in await surfer.click("Remove")
    told = await surfer.click("Remove it")

    assert "- Really remove it?" in told
    assert [each.query for each in web.gets("/answer")] == [{"is": ["yes"]}]


@pytest.mark.parametrize("bar", ["top: 0", "bottom: 0"])
async def test_a_target_below_a_bar_that_stays_is_reached(surfer: Surfer, web: Web, bar: str) -> None:
    links = "".join(
        f"<p style='height: 60px'><a href=/p/{number}>Part {number}</a></p>" for number in range(60)
    )
    web.pages["/"] = (
        f"<header style='position: fixed; {bar}; left: 0; right: 0; height: 120px; background: navy'>"
        f"<button>Menu</button></header><main style='padding: 130px 0'>{links}</main>"
    )
    await surfer.go(web.url())
    for number in (0, 30, 59, 7):
        web.pages[f"/p/{number}"] = f"<h1>This is part {number}</h1>"
        assert f"# This is part {number}" in await surfer.click(f"Part {number}")
        await surfer.back()

    assert [len(web.gets(f"/p/{number}")) for number in (0, 30, 59, 7)] == [1, 1, 1, 1]


async def test_a_target_in_a_part_that_scrolls_is_reached(surfer: Surfer, web: Web) -> None:
    rows = "".join(
        f"<p><button onclick=\"fetch('/row/{number}')\">Row {number}</button>" for number in range(80)
    )
    web.pages["/"] = f"<div style='height: 200px; width: 300px; overflow: auto'>{rows}</div>"
    await surfer.go(web.url())
    told = await surfer.find("Row 70")
    ref = told.partition("button Row 70]")[0].rpartition("[")[2].strip() if "button Row 70]" in told else ""
    await surfer.click(ref or "Row 70")

    assert len(web.gets("/row/70")) == 1


async def test_a_target_far_to_the_right_is_reached(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = (
        "<div style='width: 5000px; text-align: right'><button onclick=\"fetch('/far')\">Far</button></div>"
    )
    await surfer.go(web.url())
    await surfer.click("Far")

    assert len(web.gets("/far")) == 1


async def test_a_card_whose_text_is_clickable_is_clicked(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<div id=card style="cursor: pointer; width: 200px; padding: 20px">Tea for two</div>
        <script>card.addEventListener('click', () => fetch('/card'))</script>"""
    assert "clickable Tea for two]" in await surfer.go(web.url())
    await surfer.click("Tea for two")

    assert len(web.gets("/card")) == 1


async def test_a_box_that_its_label_draws_is_ticked(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<style>#t { position: absolute; opacity: 0; width: 0; height: 0 }
        label span { display: inline-block; width: 40px; height: 20px; background: silver }
        #t:checked + span { background: green }</style>
        <form method=post action=/s><label><input type=checkbox id=t name=t><span></span> Fast lane</label>
        <button>Save</button></form>"""
    assert "checkbox Fast lane" in await surfer.go(web.url())
    assert "checked" in await surfer.click("Fast lane")
    await surfer.submit(web.site, "Save")

    assert [each.form for each in web.posts("/s")] == [{"t": ["on"]}]


async def test_two_controls_of_one_name_need_a_ref(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<p>Tea <button onclick="fetch('/tea')">Add</button></p>
        <p>Cups <button onclick="fetch('/cups')">Add</button></p>"""
    told = await surfer.go(web.url())
    with pytest.raises(ToolError, match="stands on the page 2 times"):
        await surfer.click("Add")

    second = told.rpartition("[")[2].split()[0]
    await surfer.click(second)
    assert (len(web.gets("/tea")), len(web.gets("/cups"))) == (0, 1)


async def test_a_button_that_turns_up_later_is_pressed(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<p>Checking your seat in the hall, please wait a little for the button.</p>
        <button id=b disabled onclick="fetch('/go')">Continue</button><script>
        setTimeout(() => { b.disabled = false; document.body.append('Ready now'); }, 1500)</script>"""
    await surfer.go(web.url())
    await surfer.read(wait_for="Ready now")
    await surfer.click("Continue")

    assert len(web.gets("/go")) == 1
