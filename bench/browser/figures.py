"""The figures of a run, each with its bar."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from statistics import median
from typing import NamedTuple

from tokenizers import Tokenizer

_TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
#: Letters of scripts without spaces count one by one.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|"
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


class PageFigures(NamedTuple):
    """One page."""

    host: str
    about: str
    #: Of everything that can be read of the page, in all parts.
    tokens: int
    to_snapshot: float
    to_html: float
    words_kept: float
    seconds: float


class Bar(NamedTuple):
    """A figure, and what it has to be."""

    name: str
    value: float
    limit: float
    #: Whether the limit is the least, and not the most.
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.is_least else self.value <= self.limit


def token_counter() -> Callable[[str], int]:
    """Counts with Llama 2's tokenizer, which comes with a package that Sestet needs anyway."""
    files = metadata.files("wordllama") or []
    path = next(file.locate() for file in files if str(file) == _TOKENIZER)
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def words_kept(inner: str, options: str, text: str) -> float:
    """The part of the words of ``innerText`` that the reading has too, options of lists left aside."""
    wanted = _words(inner) - _words(options)
    missing = wanted - _words(text)
    # Chromium joins neighbours without a space between them, which a person sees apart.
    joined = "".join(_WORD.findall(re.sub(r"\[e\d+ ?\w*|->", "", text.casefold())))
    lost = sum(count for word, count in missing.items() if len(word) < 8 or word not in joined)
    return 1 - lost / max(1, wanted.total())


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def page_bars(pages: Sequence[PageFigures]) -> list[Bar]:
    to_snapshot = [page.to_snapshot for page in pages]
    return [
        Bar("tokens / Playwright's snapshot, median", median(to_snapshot), 0.35),
        Bar("tokens / Playwright's snapshot, worst", max(to_snapshot), 0.55),
        Bar("tokens / raw HTML, median", median(page.to_html for page in pages), 0.04),
        Bar("words of innerText kept, worst", min(page.words_kept for page in pages), 0.97, is_least=True),
    ]


def draw(pages: Sequence[PageFigures], bars: Sequence[Bar], costs: Mapping[str, str]) -> str:
    """The tables that are printed."""
    width = max(len(page.host) for page in pages)
    lines = [
        f"{'page':{width}}  {'tokens':>7}  {'/ snapshot':>10}  {'/ HTML':>7}  {'words':>7}  {'read':>7}  "
    ]
    lines += [
        f"{page.host:{width}}  {page.tokens:7,}  {page.to_snapshot:10.3f}  {page.to_html:7.4f}  "
        f"{page.words_kept:7.2%}  {page.seconds * 1000:4.0f} ms  {page.about}"
        for page in pages
    ]
    lines.append("")
    for bar in bars:
        sign = ">=" if bar.is_least else "<="
        lines.append(
            f"{'met ' if bar.is_met else 'MISSED'}  {bar.name}: {bar.value:.3f} ({sign} {bar.limit:g})"
        )
    lines += ["", *(f"{name}: {text}" for name, text in costs.items())]
    return "\n".join(lines)
