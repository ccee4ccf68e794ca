"""Text that a person cannot see is not read; the same text without the trick is."""

import pytest

from tests.services.browser.real_page import RealPage

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SECRET = "Zanzibar"
COVER = "<div style='position:absolute;inset:0;background:#eee'></div>"
#: Each way of hiding: a document with %s for the style or the markup that hides, and what is put there.
STYLES = {
    "display none": "display:none",
    "visibility hidden": "visibility:hidden",
    "visibility collapse": "visibility:collapse",
    "opacity 0": "opacity:0",
    "nearly transparent": "opacity:0.04",
    "zero size": "width:0;height:0;overflow:hidden",
    "one pixel": "position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)",
    "max-height 0": "max-height:0;overflow:hidden",
    "zero width": "width:0;overflow:hidden;white-space:nowrap",
    "clip": "position:absolute;clip:rect(0,0,0,0)",
    "clip-path inset": "clip-path:inset(50%)",
    "clip-path circle": "clip-path:circle(0)",
    "clip-path polygon": "clip-path:polygon(0 0,0 0,0 0)",
    "left of the page": "position:absolute;left:-9999px",
    "right of the page": "position:absolute;left:9999px",
    "above the page": "position:absolute;top:-9999px",
    "fixed below the window": "position:fixed;top:3000px",
    "moved by a transform": "transform:translateX(-9999px)",
    "moved by translate": "translate:-9999px 0",
    "negative margin": "margin-left:-9999px",
    "negative indent": "text-indent:-9999px;white-space:nowrap",
    "indent in a clipped box": "text-indent:100%;white-space:nowrap;overflow:hidden;width:300px",
    "font-size 0": "font-size:0",
    "tiny font": "font-size:1px",
    "scale 0": "transform:scale(0)",
    "tiny scale": "transform:scale(0.05)",
    "turned on its edge": "transform:rotateY(90deg)",
    "turned away": "transform:rotateY(180deg);backface-visibility:hidden",
    "colour of the background": "color:#fff",
    "nearly the colour of the background": "color:#fafafa",
    "dark on dark": "background:#000;color:#060606",
    "gradient of the same colour": "background:linear-gradient(#f00,#f00);color:#f00",
    "transparent colour": "color:transparent",
    "transparent fill": "-webkit-text-fill-color:transparent",
    "nearly transparent colour": "color:rgba(0,0,0,0.03)",
    "filter opacity": "filter:opacity(0)",
    "heavy blur": "filter:blur(30px)",
    "transparent mask": "mask-image:linear-gradient(transparent,transparent)",
    "content-visibility": "content-visibility:hidden",
    "letters on top of each other": "letter-spacing:-1em;display:inline-block",
    "behind the page's block": "position:relative;z-index:-1",
}
DOCUMENT = (
    "<!doctype html><body><p>Before</p>"
    "<div style='background:white'><div style='{style}'><span>Zanzibar</span> is here</div></div><p>After</p>"
)
MARKUP = {
    "hidden attribute": ("<p hidden>Zanzibar</p>", "<p>Zanzibar</p>"),
    "inert": ("<p inert>Zanzibar</p>", "<p>Zanzibar</p>"),
    "closed details": (
        "<details><summary>More</summary>Zanzibar</details>",
        "<details open><summary>More</summary>Zanzibar</details>",
    ),
    "comment": ("<p><!-- Zanzibar --></p>", "<p>Zanzibar</p>"),
    "noscript": ("<noscript>Zanzibar</noscript>", "<p>Zanzibar</p>"),
    "template": ("<template>Zanzibar</template>", "<p>Zanzibar</p>"),
    "aria-label of a paragraph": ("<p aria-label=Zanzibar>Hello</p>", "<p>Zanzibar</p>"),
    "aria-label of a button with text": (
        "<button aria-label=Zanzibar>Hello</button>",
        "<button aria-label=Hello>Zanzibar</button>",
    ),
    "aria-description": ("<button aria-description=Zanzibar>Hello</button>", "<button>Zanzibar</button>"),
    "title": ("<p title=Zanzibar>Hello</p>", "<p>Zanzibar</p>"),
    "title of a link with text": ("<a href=/ title=Zanzibar>Hello</a>", "<a href=/>Zanzibar</a>"),
    "stuffed alt text": (
        f"<img width=50 height=50 alt='{'word ' * 20} Zanzibar'>",
        "<img width=50 height=50 alt='Zanzibar'>",
    ),
    "data attribute": ("<p data-note=Zanzibar>Hello</p>", "<p>Zanzibar</p>"),
    "tag characters": (
        "<p>Hello" + "".join(chr(0xE0000 + ord(each)) for each in "Zanzibar") + "</p>",
        "<p>Zanzibar</p>",
    ),
    "variation selectors": (
        "<p>Hello" + "".join(chr(0xE0100 + ord(each)) for each in "Zanzibar") + "</p>",
        "<p>Zanzibar</p>",
    ),
    "hidden input": ("<input type=hidden value=Zanzibar>", "<input value=Zanzibar>"),
    "password": ("<input type=password value=Zanzibar>", "<input value=Zanzibar>"),
    "one-time code": ("<input autocomplete=one-time-code value=Zanzibar>", "<input value=Zanzibar>"),
    "card holder": ("<input autocomplete=cc-name value=Zanzibar>", "<input value=Zanzibar>"),
    "far option": (
        "<select>" + "<option>Other" * 40 + "<option>Zanzibar</select>",
        "<select><option>Other<option>Zanzibar</select>",
    ),
    "option of a datalist": (
        "<input list=l><datalist id=l><option>Zanzibar</datalist>",
        "<select><option>Zanzibar</select>",
    ),
    "covered": (
        f"<div style='position:relative'>Zanzibar{COVER}</div>",
        f"<div style='position:relative'>{COVER}<b style='position:relative'>Zanzibar</b></div>",
    ),
    "covered by a box that clicks go through": (
        "<div style='position:relative'>Zanzibar"
        "<div style='position:absolute;inset:0;background:#eee;pointer-events:none'></div></div>",
        "<div style='position:relative'>Zanzibar<div style='position:absolute;inset:0'></div></div>",
    ),
    "covered below the window": (
        f"<div style='height:3000px'></div><div style='position:relative'>Zanzibar{COVER}</div>",
        "<div style='height:3000px'></div><div style='position:relative'>Zanzibar</div>",
    ),
    "covered by the next cell of a grid": (
        "<div style='display:grid'><p style='grid-area:1/1'>Zanzibar</p>"
        "<p style='grid-area:1/1;background:#eee'>Hello all of you</p></div>",
        "<div style='display:grid'><p style='grid-area:1/1;background:#eee'>Hello all of you</p>"
        "<p style='grid-area:1/1'>Zanzibar</p></div>",
    ),
    "end of a cut line": (
        "<p style='width:120px;overflow:hidden;white-space:nowrap'>Hello there my dear friends Zanzibar</p>",
        "<p style='width:120px;overflow:auto;white-space:nowrap'>Hello there my dear friends Zanzibar</p>",
    ),
    "end of a clamped paragraph": (
        "<p style='height:20px;width:200px;overflow:hidden'>Hello there my dear friends of tea Zanzibar</p>",
        "<p style='height:20px;width:200px;overflow:auto'>Hello there my dear friends of tea Zanzibar</p>",
    ),
    "below a page that does not scroll": (
        "<style>html{overflow:hidden;height:100%}</style><div style='height:3000px'></div>Zanzibar",
        "<div style='height:3000px'></div>Zanzibar",
    ),
    "svg title": (
        "<svg width=50 height=20><title>Zanzibar</title></svg>",
        "<svg width=90 height=20><text y=15>Zanzibar</text></svg>",
    ),
    "fallback of a canvas": ("<canvas>Zanzibar</canvas>", "<p>Zanzibar</p>"),
    "fallback of a video": ("<video>Zanzibar</video>", "<p>Zanzibar</p>"),
    "generated by CSS": ("<style>p::after{content:'Zanzibar'}</style><p>Hello</p>", "<p>Zanzibar</p>"),
    "title of the page in a slot of nothing": (
        "<div id=h>Zanzibar</div><script>document.getElementById('h').attachShadow({mode:'open'})</script>",
        "<div id=h>Zanzibar</div>",
    ),
    "covered by a box that CSS generates": (
        "<style>p{position:relative}p::after{content:'';position:absolute;inset:0;background:#eee}</style>"
        "<p>Zanzibar</p>",
        "<style>p{position:relative;z-index:0}"
        "p::after{content:'';position:absolute;inset:0;background:#eee;z-index:-1}</style><p>Zanzibar</p>",
    ),
    "coloured like a box that CSS generates": (
        "<style>p{position:relative;z-index:0;color:#f00}"
        "p::before{content:'';position:absolute;inset:0;background:#f00;z-index:-1}</style><p>Zanzibar</p>",
        "<style>p{position:relative;z-index:0;color:#fff}"
        "p::before{content:'';position:absolute;inset:0;background:#f00;z-index:-1}</style><p>Zanzibar</p>",
    ),
    "under a veil": (
        "<div style='position:relative'>Zanzibar"
        "<div style='position:absolute;inset:0;background:#eee;opacity:.97'></div></div>",
        "<div style='position:relative'>Zanzibar"
        "<div style='position:absolute;inset:0;background:#eee;opacity:.3'></div></div>",
    ),
    "value of the background's colour": (
        "<input value=Zanzibar style='color:#fff;background:#fff'>",
        "<input value=Zanzibar style='color:#000;background:#fff'>",
    ),
    "transparent value": (
        "<textarea style='color:transparent'>Zanzibar</textarea>",
        "<textarea>Zanzibar</textarea>",
    ),
    "button's value of its own colour": (
        "<input type=button value=Zanzibar style='color:#333;background:#333'>",
        "<input type=button value=Zanzibar style='color:#fff;background:#333'>",
    ),
    "shadow of the same colour": (
        "<p style='color:#fff;text-shadow:0 0 2px #fff'>Zanzibar</p>",
        "<p style='color:#fff;text-shadow:0 0 2px #000'>Zanzibar</p>",
    ),
    "parent of no opacity": (
        "<div style='opacity:0'><div style='opacity:1'><p>Zanzibar</p></div></div>",
        "<div><p>Zanzibar</p></div>",
    ),
    "product of opacities": (
        "<div style='opacity:.3'><div style='opacity:.3'><p>Zanzibar</p></div></div>",
        "<div style='opacity:.9'><div style='opacity:.9'><p>Zanzibar</p></div></div>",
    ),
    "label that nobody sees": (
        "<label for=i style='color:#fff'>Zanzibar</label><input id=i placeholder=Name>",
        "<label for=i>Zanzibar</label><input id=i placeholder=Name>",
    ),
    "scale 0 of an ancestor": (
        "<div style='transform:scale(0)'><p>Zanzibar</p></div>",
        "<div style='transform:scale(1)'><p>Zanzibar</p></div>",
    ),
}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
async def test_hidden_text_is_left_out(page: RealPage, style: str) -> None:
    hidden = "\n".join(await page.lines(DOCUMENT.format(style=style)))
    assert SECRET not in hidden
    assert "Before" in hidden
    assert "After" in hidden


async def test_the_same_text_is_read_when_nothing_hides_it(page: RealPage) -> None:
    assert "Zanzibar is here" in await page.lines(DOCUMENT.format(style="color:black"))


@pytest.mark.parametrize(("hidden", "shown"), MARKUP.values(), ids=MARKUP)
async def test_text_hidden_by_markup_is_left_out(page: RealPage, hidden: str, shown: str) -> None:
    start = "<!doctype html><body style='background:white'><p>Start</p>"
    assert SECRET not in "\n".join(await page.lines(start + hidden))
    assert SECRET in "\n".join(await page.lines(start + shown))


async def test_joiners_and_reversals_are_taken_out_of_words(page: RealPage) -> None:
    assert "Zanzibar" in await page.lines("<p>Zan\u200bzi\u202ebar\u2060\ufeff</p>")


async def test_zanzibar_on_a_dark_picture_is_read(page: RealPage) -> None:
    """White text over a dark box beside it, as on most front pages."""
    lines = await page.lines(
        "<div style='position:relative;height:200px'>"
        "<div style='position:absolute;inset:0;background:#222'></div>"
        "<p style='position:absolute;top:50px;color:white'>Zanzibar</p></div>"
    )
    assert "Zanzibar" in lines
