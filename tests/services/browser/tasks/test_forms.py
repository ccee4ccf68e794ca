"""Tasks with forms: fields of every kind, validation by the browser and by scripts, frameworks."""

import pytest

from sestet.core.errors import ToolError
from tests.services.browser.tasks.surfer import Surfer
from tests.services.browser.tasks.web import Received, Web

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_fields_of_every_kind_arrive_as_they_were_filled_in(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form method=post action=/send>
        <label>Text <input name=text></label> <label>Mail <input type=email name=mail></label>
        <label>Day <input type=date name=day></label> <label>Hour <input type=time name=hour></label>
        <label>When <input type=datetime-local name=when></label>
        <label>Month <input type=month name=month></label> <label>Week <input type=week name=week></label>
        <label>Count <input type=number name=count step=0.5></label>
        <label>Volume <input type=range name=volume min=0 max=10></label>
        <label>Colour <input type=color name=colour></label> <label>Site <input type=url name=site></label>
        <label>Notes <textarea name=notes></textarea></label> <button>Send</button></form>"""
    values = {
        "Text": "Ada 'Lovelace' <ada> 数 😀",
        "Mail": "ada@example.org",
        "Day": "2026-03-01",
        "Hour": "09:30",
        "When": "2026-03-01T09:30",
        "Month": "2026-03",
        "Week": "2026-W10",
        "Count": "2.5",
        "Volume": "7",
        "Colour": "#336699",
        "Site": "https://example.org/",
        "Notes": "first line\nsecond line",
    }
    await surfer.go(web.url())
    await surfer.fill(web.site, values)
    assert web.posts() == []
    await surfer.submit(web.site, "Send")

    (post,) = web.posts("/send")
    sent = {name: value.replace("\r\n", "\n") for name, (value,) in post.form.items()}
    assert list(sent.values()) == list(values.values())


async def test_boxes_radios_switches_and_lists_are_chosen(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form method=post action=/send>
        <label><input type=checkbox name=terms> I agree</label>
        <label><input type=checkbox name=news checked> News</label>
        <fieldset><legend>Size</legend><label><input type=radio name=size value=s> Small</label>
        <label><input type=radio name=size value=l> Large</label></fieldset>
        <label><input type=checkbox role=switch name=dark> Dark mode</label>
        <label>Country <select name=country><option value=de>Germany<option value=fr>France</select></label>
        <label>Toppings <select name=tops multiple><option>Ham<option>Egg<option>Olives</select></label>
        <button>Order</button></form>"""
    told = await surfer.go(web.url())
    assert "News checked" in told

    chosen = {"I agree": "yes", "News": "no", "Large": "yes", "Dark mode": "on", "Country": "France"}
    told = await surfer.fill(web.site, {**chosen, "Toppings": "Ham\nOlives"})
    assert "Large checked" in told
    await surfer.submit(web.site, "Order")

    expected = {"terms": ["on"], "size": ["l"], "dark": ["on"], "country": ["fr"], "tops": ["Ham", "Olives"]}
    assert [each.form for each in web.posts("/send")] == [expected]


async def test_a_choice_that_a_list_has_not_is_refused_with_its_choices(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = "<label>Country <select><option>Germany<option>France</select></label>"
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="has no choice 'Spain'; it has: Germany, France"):
        await surfer.fill(web.site, {"Country": "Spain"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type=date", "tomorrow"),
        ("type=number", "many"),
        ("type=range min=0 max=10", "11"),
        ("type=color", "blue"),
        ("maxlength=3 oninput='value = value.slice(0, 3)'", "abcdef"),
        ("oninput='value = value.replace(/[a-z]/g, 0)'", "letters"),
    ],
)
async def test_a_value_that_a_field_does_not_take_is_told(
    surfer: Surfer, web: Web, field: str, value: str
) -> None:
    web.pages["/"] = f"<label>Field <input {field}></label>"
    await surfer.go(web.url())

    with pytest.raises(ToolError, match=f"'Field' did not take '{value}'"):
        await surfer.fill(web.site, {"Field": value})


async def test_fields_that_cannot_be_changed_say_why(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<label>Fixed <input readonly value=1></label>
        <label>Off <input disabled></label><button>Press</button>"""
    await surfer.go(web.url())

    for name, why in (("Fixed", "read-only"), ("Off", "is disabled"), ("Press", "is no field")):
        with pytest.raises(ToolError, match=why):
            await surfer.fill(web.site, {name: "2"})


async def test_what_html_refuses_to_send_is_read_and_mended(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form method=post action=/send><label>Name <input name=name required></label>
        <label>Mail <input type=email name=mail required></label>
        <label>Age <input type=number name=age min=18></label><button>Join</button></form>"""
    told = await surfer.go(web.url())
    assert "Name required" in told

    await surfer.fill(web.site, {"Name": "Ada", "Mail": "nobody", "Age": "12"})
    told = await surfer.submit(web.site, "Join")
    assert web.posts() == []
    assert "invalid: " in told
    assert "'@'" in told
    assert "18" in told

    await surfer.fill(web.site, {"Mail": "ada@example.org", "Age": "36"})
    await surfer.submit(web.site, "Join")
    assert [each.form["mail"] for each in web.posts("/send")] == [["ada@example.org"]]


async def test_what_a_script_refuses_to_send_is_read_and_mended(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form id=f method=post action=/send novalidate><label>Code <input name=code></label>
        <p id=e role=alert style="color: red"></p><button>Go</button></form><script>
        f.onsubmit = (event) => {
            if (/^[A-Z]{3}$/.test(f.code.value)) return;
            event.preventDefault();
            e.textContent = 'The code has three capital letters.';
        }</script>"""
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Code": "abc"})

    assert "+ The code has three capital letters." in await surfer.submit(web.site, "Go")
    assert web.posts() == []
    await surfer.fill(web.site, {"Code": "ABC"})
    await surfer.submit(web.site, "Go")
    assert [each.form for each in web.posts()] == [{"code": ["ABC"]}]


async def test_what_the_server_refuses_is_read_and_mended(surfer: Surfer, web: Web) -> None:
    form = (
        "<form method=post action=/send><label>User <input name=user value='{}'></label>"
        "<button>Go</button></form>"
    )
    web.pages["/"] = form.format("")

    def send(received: Received) -> str:
        taken = received.form["user"] == ["ada"]
        return f"<p>The name 'ada' is taken.</p>{form.format('ada')}" if taken else "<h1>Welcome</h1>"

    web.pages["/send"] = send
    await surfer.go(web.url())
    await surfer.fill(web.site, {"User": "ada"})
    assert "The name 'ada' is taken." in await surfer.submit(web.site, "Go")
    await surfer.fill(web.site, {"User": "ada2"})
    assert "# Welcome" in await surfer.submit(web.site, "Go")

    assert [each.form["user"] for each in web.posts()] == [["ada"], ["ada2"]]


#: As React does it: the state has the value, and typing counts if the tracker has not seen it.
CONTROLLED = """<label>Name <input id=field></label><p id=shown></p>
    <button id=go disabled>Save</button><script>
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    let state = '', tracked = '';
    Object.defineProperty(field, 'value', {
        get() { return own.get.call(this); },
        set(value) { tracked = String(value); own.set.call(this, value); },
    });
    const render = () => {
        if (field.value !== state) field.value = state;
        shown.textContent = 'Hello ' + state;
        go.disabled = state.length < 3;
    };
    document.addEventListener('input', () => {
        const now = own.get.call(field);
        if (now !== tracked) { tracked = now; state = now.toUpperCase().toLowerCase(); }
        Promise.resolve().then(render);
    });
    go.onclick = () => fetch('/save', { method: 'POST', body: JSON.stringify({ name: state }) });
    render()</script>"""


async def test_a_controlled_field_takes_the_value_into_its_state(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = CONTROLLED
    await surfer.go(web.url())

    assert "+ Hello grace" in await surfer.fill(web.site, {"Name": "grace"})
    await surfer.submit(web.site, "Save")

    assert [each.body for each in web.posts("/save")] == [b'{"name":"grace"}']


async def test_a_button_that_becomes_enabled_is_refused_before(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = CONTROLLED
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="'Save' is disabled"):
        await surfer.submit(web.site, "Save")
    assert web.posts() == []


async def test_an_editor_takes_text_and_lines(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<div id=editor contenteditable role=textbox aria-label=Message><p>old</p></div>
        <button onclick="fetch('/save', { method: 'POST', body: editor.innerText })">Save</button>"""
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Message": "Dear Ada,\nthank you."})
    await surfer.submit(web.site, "Save")

    (post,) = web.posts("/save")
    assert post.body.decode().split() == ["Dear", "Ada,", "thank", "you."]
    assert b"\n" in post.body.strip()


async def test_a_form_sent_by_get_shows_its_results(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = (
        "<form action=/search><input type=search name=q aria-label=Search><button>Find</button></form>"
    )
    web.pages["/search"] = lambda received: f"<h1>Results for {received.query['q'][0]}</h1>"
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Search": "green tea"})

    assert "# Results for green tea" in await surfer.submit(web.site, "Find")
    assert [each.query for each in web.gets("/search")] == [{"q": ["green tea"]}]


async def test_of_two_buttons_the_chosen_one_is_sent(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form method=post action=/wrong><input name=a value=1 aria-label=A>
        <button name=do value=draft>Draft</button>
        <button name=do value=send formaction=/right>Send</button></form>"""
    await surfer.go(web.url())
    await surfer.submit(web.site, "Send")

    assert [(each.path, each.form) for each in web.posts()] == [("/right", {"a": ["1"], "do": ["send"]})]


async def test_a_form_in_several_steps_is_gone_through(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = """<form id=f method=post action=/order><div id=one><label>Name <input name=n></label>
        <button type=button onclick="one.hidden = true; two.hidden = false">Next</button></div>
        <div id=two hidden><label>Street <input name=s></label><button>Order</button></div></form>"""
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": "Ada"})
    assert "Street" in await surfer.submit(web.site, "Next")
    await surfer.fill(web.site, {"Street": "Main Street 1"})
    await surfer.submit(web.site, "Order")

    assert [each.form for each in web.posts()] == [{"n": ["Ada"], "s": ["Main Street 1"]}]


_CONTACT = """<form method=post action=/send><input type=hidden name=token value=7>
    <label>Topic <select name=topic><option>Orders<option>Other</select></label>
    <label>Name <input name=name></label> <label><input type=checkbox name=copy> Copy to me</label>
    <button>Send</button></form><form method=post action=/out><button>Sign out</button></form>"""


async def test_an_empty_form_is_not_sent(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = _CONTACT
    await surfer.go(web.url())

    with pytest.raises(ToolError, match="nothing was sent: the form of 'Send' \\(button\\) is empty"):
        await surfer.submit(web.site, "Send")

    assert web.posts() == []


async def test_a_form_in_which_only_a_box_was_ticked_is_sent(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = _CONTACT
    await surfer.go(web.url())
    await surfer.click("Copy to me")

    await surfer.submit(web.site, "Send")

    assert [each.form["copy"] for each in web.posts("/send")] == [["on"]]


async def test_a_form_that_is_meant_to_go_empty_is_sent(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = _CONTACT
    await surfer.go(web.url())
    await surfer.fill(web.site, {"Name": ""})

    await surfer.submit(web.site, "Send")

    assert len(web.posts("/send")) == 1


async def test_a_form_that_asks_for_nothing_is_sent(surfer: Surfer, web: Web) -> None:
    web.pages["/"] = _CONTACT
    await surfer.go(web.url())

    await surfer.submit(web.site, "Sign out")

    assert len(web.posts("/out")) == 1
