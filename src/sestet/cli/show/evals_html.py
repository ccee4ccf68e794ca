"""A run of ``sestet eval`` as one page: no script, nothing loaded from elsewhere, every text escaped."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from sestet.cli.show.clean import one_line
from sestet.cli.show.evals_svg import draw_matrix
from sestet.cli.show.evals_tables import Table, cost_table, score_table, tool_table
from sestet.cli.show.evals_words import count, percent, remark, subject_line, what_went_wrong
from sestet.evals.figures import confusion_of, confusions_of, score
from sestet.evals.runs import Result, Run

_STYLE = Path(__file__).with_name("evals_page.css")
#: Whatever a request holds: nothing on the page is run or fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_TEXT_WIDTH = 500


def render_page(run: Run) -> str:
    """The whole page."""
    head = subject_line(run.info)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{_text(head)}</title>",
            f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>",
            "</head>",
            "<body>",
            *_body(run, head),
            "</body>",
            "</html>",
            "",
        ]
    )


def _body(run: Run, head: str) -> Iterator[str]:
    total = score(run.results)
    yield f"<h1>{percent(total.accuracy)} of {count(total.n, 'request')} right</h1>"
    left = run.info.cases - total.n
    yield f'<p class="about">{_text(head)}{f" · {left} not tried yet" if left else ""}</p>'
    if not run.results:
        return
    yield from _table(score_table(run))
    if run.info.eval == "tools":
        yield "<h2>Tools</h2>"
        yield from _table(tool_table(run.results))
    if run.info.eval != "multipart":
        yield "<h2>Confusion matrix</h2>"
        yield f'<div class="wide">{draw_matrix(confusion_of(run.results))}</div>'
    yield "<h2>Time and cost by route</h2>"
    yield from _table(cost_table(run))
    if total.right < total.n:
        yield "<h2>What went wrong</h2>"
        yield from _confusions(run.results)
        yield from _failures([r for r in run.results if not r.right and r.given == r.expected])


def _table(table: Table) -> Iterator[str]:
    yield '<div class="wide"><table>'
    yield f"<tr>{''.join(_cell('th', cell, n < table.texts) for n, cell in enumerate(table.head))}</tr>"
    for number, row in enumerate(table.rows, 1):
        kind = ' class="total"' if number == len(table.rows) else ""
        yield f"<tr{kind}>{''.join(_cell('td', cell, n < table.texts) for n, cell in enumerate(row))}</tr>"
    yield "</table></div>"


def _cell(tag: str, text: str, is_text: bool) -> str:
    kind = ' class="text"' if is_text else ""
    return f"<{tag}{kind}>{_text(text)}</{tag}>"


def _confusions(results: Sequence[Result]) -> Iterator[str]:
    for pair in confusions_of(results):
        head = f"{pair.expected} taken for {pair.given}"
        yield f'<div><span class="wrong-route">{_text(head)}</span>: {len(pair.results)}</div>'
        yield '<ul class="requests">'
        for result in pair.results:
            yield f'<li>{_text(result.request)} <span class="quiet">{_text(remark(result))}</span></li>'
        yield "</ul>"


def _failures(results: Sequence[Result]) -> Iterator[str]:
    """Right tool, wrong arguments."""
    if not results:
        return
    yield f'<div><span class="wrong-route">wrong arguments</span>: {len(results)}</div><ul class="requests">'
    for result in results:
        yield f'<li>{_text(result.request)} <span class="quiet">{_text(what_went_wrong(result))}</span></li>'
    yield "</ul>"


def _text(text: str) -> str:
    return escape(one_line(text, _TEXT_WIDTH))
