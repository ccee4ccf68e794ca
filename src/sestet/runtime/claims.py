"""Finds claims of effects in an answer that the journal does not have. Pure; asks no model; English only.

"I deleted it" is a claim. "It was deleted" is a claim only if the person asked for it in this turn: else the
answer may report what it has read. The patterns are compiled on first use, since most answers need none.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, get_args

from sestet.core.event import Claim, Effects

#: The work is bounded: characters of the answer, sentences that may be claims, characters around each of them
#: and of each text that was read.
_LOOKED_AT, _CANDIDATES, _AROUND, _READ = 4_000, 20, 200, 100_000

#: Words, and works made of words: to change them is no effect outside the answer.
_WORDS = (
    r"\b(?:paragraphs?|sentences?|words?|lines?|commas?|sections?|phrases?|wording|typos?|headings?|drafts?"
    r"|poem|essay|story|summary|overview|plan|outline|search|query|check|analysis|comparison|mistakes?"
    r"|list\s+by|in\s+order)\b"
)
_WORDS_AND_LETTERS = rf"{_WORDS}|\b(?:e?-?mails?|letters?|messages?|repl(?:y|ies)|texts?)\b"


class _Verbs(NamedTuple):
    """Verbs of one meaning: ``delete:deleted``, with every past form."""

    kind: Claim
    #: "I …" is a claim by itself, or only if the person asked for it, or only with a thing that it changes.
    needs: Literal["nothing", "request", "thing"]
    forms: str
    #: The words that these verbs may edit in the answer itself, as in "I removed the second sentence".
    edits: str = ""


_VERBS = (
    _Verbs(
        "changed",
        "nothing",
        "delete:deleted erase:erased wipe:wiped trash:trashed purge:purged remove:removed discard:discarded "
        "uninstall:uninstalled unsubscribe:unsubscribed",
        _WORDS,
    ),
    _Verbs("changed", "nothing", "rename:renamed archive:archived install:installed download:downloaded"),
    _Verbs("changed", "nothing", "book:booked reserve:reserved cancel:cancelled,canceled"),
    _Verbs("changed", "nothing", "save:saved store:stored memorize:memorized memorise:memorised"),
    _Verbs("changed", "request", "remember:remembered note:noted record:recorded"),
    _Verbs("changed", "thing", "move:moved copy:copied", _WORDS_AND_LETTERS),
    _Verbs(
        "changed",
        "thing",
        "create:created make:made write:written,wrote add:added append:appended put:put",
        _WORDS_AND_LETTERS,
    ),
    _Verbs(
        "changed",
        "thing",
        "update:updated change:changed edit:edited modify:modified replace:replaced set:set fix:fixed "
        "correct:corrected overwrite:overwritten,overwrote enable:enabled disable:disabled",
        _WORDS_AND_LETTERS,
    ),
    _Verbs("changed", "thing", "run:run,ran execute:executed restart:restarted", _WORDS_AND_LETTERS),
    _Verbs("changed", "thing", "schedule:scheduled", _WORDS_AND_LETTERS),
    _Verbs("changed", "request", "order:ordered register:registered subscribe:subscribed", _WORDS),
    _Verbs(
        "sent",
        "nothing",
        "send:sent email:emailed e-mail:e-mailed mail:mailed forward:forwarded post:posted upload:uploaded "
        "publish:published submit:submitted notify:notified tweet:tweeted",
    ),
    _Verbs("paid", "nothing", "pay:paid buy:bought purchase:purchased donate:donated refund:refunded"),
)
_PAIRS = [(verbs, *form.split(":")) for verbs in _VERBS for form in verbs.forms.split()]
_BASES = {base: verbs for verbs, base, _ in _PAIRS}
_PASTS = {past: verbs for verbs, _, pasts in _PAIRS for past in pasts.split(",")}
#: Words that may claim an effect which the person asked for: "it is gone", "it is on its way".
_ENDS = {"gone": _BASES["delete"], "exists": _BASES["delete"], "way": _BASES["send"]}
#: An answer without any of these words claims nothing.
_SIGNS = frozenset((*_PASTS, *_ENDS, "done", "set"))

_ADVERBS = r"(?:(?:now|just|also|then|successfully|gone ahead and|went ahead and)\s+)*"
#: How the words before a sign make it a claim; they are among this many characters.
_FORM_LENGTH = 60
_FORM = (
    rf"(?:\b(?:i|we)(?:'ve|\s+have)?\s+(?P<own>){_ADVERBS}"
    rf"|\band\s+(?P<also>){_ADVERBS}"
    rf"|\b(?:was|were|(?:has|have)\s+{_ADVERBS}been|(?:is|are)\s+now)\s+(?P<passive>){_ADVERBS}"
    r"|[.!?:\n]\W*(?:(?P<success>successfully\s+)|(?P<head>))"
    r"|[.!?\n]\W*(?P<done>all\s+|(?:it|that)(?:'s|\s+is)\s+|consider\s+it\s+)"
    r"|\b(?P<end>(?:is|are)\s+|no\s+longer\s+|on\s+(?:its|their)\s+))$"
)
#: "and deleted it" is an act of the assistant if "I opened the file" stands before it.
_FIRST_ACT = r"\b(?:i|we)(?:'ve|\s+have)?\s+(?:\w+ed|read|found|took|saw|wrote|made|sent|paid|bought|ran)\b"
_OBJECT = r"\s+(?:the|it|them|an?|your|that|this|all|\S+\.\w+)\b"
#: A request in the person's message, such as "please delete" and "and delete".
_REQUEST = (
    r"(?:^\W*|[,;:]\s*|\b(?:and|then|please|you|also|now|just|(?:want|need|like)(?:\s+you)?\s+to)\s+)"
    rf"(?P<verb>{'|'.join(_BASES)})\b"
)
_SYNONYMS = r"\b(?:get\s+rid\s+of|throw\s+away|throw\s+out)\b"
_YES = r"(?:\b(?:yes|yep|yeah|sure|ok|okay|please|go ahead|do it|do that|do so|proceed|confirmed)\b\W*)+"
#: A sentence that asks how something is done, or what was done before.
_QUESTION = (
    r"\W*(?:how|what|why|who|when|where|which|did|does|do\s+you|is|are|was|were|has|have\s+(?:you|we|i)|had"
    r"|should|can\s+i)\b"
)
#: A message that asks for words: a first person in them is not the assistant.
_CREATIVE = (
    r"\b(?:story|poem|song|lyrics|diary|dialogue|joke|essay|speech|translat\w+|rewrite|rephrase|paraphrase"
    r"|proofread|shorten|example|sample|quote|draft|novel|pretend|imagine|sentence|letter|commit\s+message)\b"
)
_FILE = (
    r"(?:\b(?P<before>\w+)\s+(?:the\s+|a\s+|your\s+)?(?:file\s+)?)?"
    r"(?:[\w~/-]{0,80}\w\.[a-z]\w{0,4}\b|[~.]?/\w)"
)
#: Behind one of these, a file is what an act is about, and not what it changes.
_ABOUT = r"\b(?:of|from|about|with|for|using|by|based|because|so|that|which|where)\b"
_INTO = frozenset(("to", "in", "into", "onto", "as", "at", "under", "from"))
_THING = (
    r"\b(?:files?|folders?|director(?:y|ies)|notes?|memory|database|calendar|events?|appointments?|meetings?"
    r"|reminders?|contacts?|accounts?|entry|entries|records?|tickets?|tasks?|settings?|config\w*|profile"
    r"|phone\s+number|password|address|scripts?|commands?|tests?|servers?|services?|process|program|invoice"
    r"|alarm|timer|repository|branch|subscription|to\s+(?:your|my|the|our)\s[\w ]{0,20}list)\b"
)
_HAND_OVER = r"\b(?:specialists?|agents?|colleagues?|your\s+(?:request|question))\b"
#: The rest of such a clause did not happen, or is what somebody else said.
_UNREAL = (
    r"n't\b|\b(?:if|once|unless|until|whether|would|could|should|might|may|must|can|cannot|will|not|never"
    r"|nothing|none|neither|nobody|no(?!\s+(?:problem|worries))|you\s+(?:said|say|told|think|mentioned))\b"
    r"|\b(?:when|after|before|as\s+soon\s+as|that|what|which|who|how|where)\s*$"
)
_EARLIER = r"\b(?:earlier|previously|yesterday|ago|last\s+\w+|previous\s+\w+)\b"
_CLAUSE = r"[,;:()\u2013\u2014\n]|[.!?](?=\s)|\bbut\b"
_SENTENCE_END = r"[.!?](?=\W|$)|[\n;]|$"


def unsupported_claims(
    text: str, asked: str, effects: Effects, read: Iterable[str] = ()
) -> tuple[Claim, ...]:
    """The kinds of effect that the text claims and the turn does not have.

    ``asked`` is the person's message. ``read`` are the texts that the agents were shown: words of theirs that
    the answer repeats are no claims.
    """
    missing = _missing(effects)
    words = re.findall(r"[a-z]+", text[:_LOOKED_AT].lower()) if missing else ()
    if _SIGNS.isdisjoint(words):
        return ()
    said, request = _own_words(text[:_LOOKED_AT]), _Request(asked, read)
    signs = (match for match in re.finditer(r"[a-z]+(?:-[a-z]+)?", said) if match[0] in _SIGNS)
    found = {claim for sign in islice(signs, _CANDIDATES) for claim in _claims(sign, request)}
    return tuple(kind for kind in missing if kind in found)


def _missing(effects: Effects) -> tuple[Claim, ...]:
    """The kinds of effect that no call supports. To send or pay also changes something, somewhere."""
    if effects.in_doubt or effects.paid:
        return ()
    if effects.sent:
        return ("paid",)
    return ("sent", "paid") if effects.changed else get_args(Claim)


def _own_words(text: str) -> str:
    """The text in lower case without code and quotations; a quoted name stays."""
    text = re.sub(r"(?s)```.*?(?:```|\Z)", " ", text)
    text = (
        re.sub(r"(?m)^\s*>.*$", " ", text)
        .replace("`", "")
        .replace("*", "")
        .replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    )
    return re.sub(r'["“«]([^"“”«»\n]*)["”»]', _unquoted, text).lower()


def _unquoted(match: re.Match[str]) -> str:
    return match[1] if match[1] and " " not in match[1] else "…"


class _Request:
    """What the person asked for, and what the agents read for it."""

    def __init__(self, message: str, read: Iterable[str]) -> None:
        self._read = read
        self.text = re.sub(_SYNONYMS, "delete", message[:_LOOKED_AT].lower())
        sentences = re.split(r"(?<=[.!?])\s|\n", self.text)
        self.verbs = {verbs for sentence in sentences for verbs in _requested(sentence)}
        self.is_yes = len(self.text) < _AROUND and re.fullmatch(_YES, self.text.strip()) is not None
        #: Whether it asks what was done before, or for a text.
        self.wants_words = bool(re.match(_QUESTION, self.text) or re.search(_CREATIVE, self.text))

    def has(self, verbs: _Verbs) -> bool:
        # Money is sent too.
        asked = self.verbs | {_BASES["send"]} if _BASES["pay"] in self.verbs else self.verbs
        return self.is_yes or verbs in asked

    @cached_property
    def known(self) -> str:
        """The words of the person and of every text that was read."""
        return "\n".join(" ".join(text[:_READ].lower().split()) for text in (self.text, *self._read))


def _requested(sentence: str) -> list[_Verbs]:
    if re.match(_QUESTION, sentence):
        return []
    found = [(_BASES[match["verb"]], sentence[match.end() :]) for match in re.finditer(_REQUEST, sentence)]
    return [verbs for verbs, rest in found if _is_effect(verbs, rest, asked=verbs.needs != "thing")]


def _claims(sign: re.Match[str], request: _Request) -> Iterable[Claim]:
    """The kinds of effect that the sentence around a sign claims."""
    said, end = sign.string, sign.end()
    first = max(0, sign.start() - _AROUND)
    before = said[first : sign.start()] if first else f"\n{said[: sign.start()]}"
    stop = re.search(_SENTENCE_END, said[end : end + _AROUND])
    assert stop is not None  # the pattern matches the end of a text
    rest = stop.string[: stop.start()]
    form = re.compile(_FORM).search(before, max(0, len(before) - _FORM_LENGTH))
    if form is None and not re.match(r"\s+successfully\b", rest):
        return ()
    clause = re.split(_CLAUSE, before[: form.start()] if form else before)[-1]
    if stop[0] == "?" or re.search(_UNREAL, clause) or re.search(_EARLIER, clause + rest):
        return ()
    if sign[0] == "done" or (sign[0] == "set" and form and form["done"]):
        return ("changed",) if request.is_yes else {verbs.kind for verbs in request.verbs}
    verbs = _ENDS.get(sign[0]) if form and form["end"] else _PASTS.get(sign[0])
    if verbs is None or (form and form["also"] is not None and not re.match(_OBJECT, rest)):
        return ()
    is_claim = False
    if request.has(verbs):
        is_claim = request.is_yes or _is_effect(verbs, rest, asked=True)
    elif form and _is_own(form, clause) and not request.wants_words:
        sentence = " ".join(f"{form[0]}{sign[0]}{rest}".split())
        is_claim = _is_effect(verbs, rest, asked=False) and sentence not in request.known
    return (verbs.kind,) if is_claim else ()


def _is_own(form: re.Match[str], clause: str) -> bool:
    """Whether the sentence says that the assistant itself did it."""
    own = form["own"] is not None or form["success"] is not None
    return own or (form["also"] is not None and re.search(_FIRST_ACT, clause) is not None)


def _is_effect(verbs: _Verbs, rest: str, *, asked: bool) -> bool:
    """Whether a verb with the rest of its sentence is about more than words."""
    files = [match["before"] for match in re.finditer(_FILE, rest)]
    into_file = any(before in _INTO for before in files)
    if verbs.kind == "sent" and re.search(_HAND_OVER, rest):
        return False
    if verbs.edits and not into_file and re.search(verbs.edits, rest):
        return False
    if verbs.needs != "thing":
        return asked or verbs.needs == "nothing"
    thing = re.split(_ABOUT, rest)[0]
    return asked or bool(re.search(_THING, thing) or re.search(_FILE, thing))
