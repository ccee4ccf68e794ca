"""What the models have cost, as a table for a person and as JSON."""

from collections.abc import Iterator, Sequence

import typer
from rich.console import Console
from rich.text import Text

from sestet.cli.show.console import align, open_console, print_line
from sestet.config import Settings
from sestet.core.clean import clean, one_line
from sestet.core.words import money
from sestet.services.costs import ALL_TIME, Costs, CostsReport, CostsRow, Spent

#: How many characters the name of a line and the title of a session take, at most.
_NAME_WIDTH, _TITLE_WIDTH = 40, 40
_LEAST_NAME, _LEAST_TITLE = 10, 12
_LONGEST_NAME = 200
_LONGEST_BAR = 24
#: A shorter bar says nothing.
_SHORTEST_BAR = 5
_HEADS = ("calls", "in", "out", "cached")
#: After an amount that is not all of it.
_UNKNOWN = " + ?"
_EIGHTHS = " ▏▎▍▌▋▊▉"


def price_text(spent: Spent, digits: int = 4) -> str:
    """The dollars of a sum; a question mark stands for the part whose price is unknown."""
    if spent.unpriced_tokens:
        return f"{money(spent.dollars, digits)}{_UNKNOWN}" if spent.nano_dollars else "?"
    return money(spent.dollars, digits) if spent.nano_dollars else "free"


def print_costs(report: CostsReport, costs: Costs, settings: Settings, limit: int) -> None:
    console = open_console()
    if not report.rows:
        nothing = "in this time" if costs.in_all().calls else "yet; the built-in model is free"
        typer.echo(f"No model has used anything {nothing}.", err=True)
        return
    print_line(console, Text(_summary(costs, settings), style="bold"))
    print_line(console, Text(f"by {report.by}, {_period_text(report)}", style="dim"))
    console.print()
    for line in _table(console, report, limit):
        print_line(console, line)
    notes = list(_notes(report, settings))
    if report.background.calls:
        used = costs.background_today(settings.background)
        notes.insert(1, Text(f"background work today: {used}", style="dim"))
    if notes:
        console.print()
    for note in notes:
        console.print(note)


def _summary(costs: Costs, settings: Settings) -> str:
    today, limit = price_text(costs.today(), 2), settings.limits.dollars_per_day
    of_limit = f" of {money(limit, 2)}" if limit else ""
    month, all_time = price_text(costs.this_month(), 2), price_text(costs.in_all(), 2)
    return f"today {today}{of_limit} · this month {month} · in all {all_time}"


def _period_text(report: CostsReport) -> str:
    since, until = report.period
    if report.period == ALL_TIME:
        return "all time"
    if since == until:
        return since
    start = f"{since} " if since else ""
    return f"{start}to {until}" if until != ALL_TIME.until else f"since {since}"


def _table(console: Console, report: CostsReport, limit: int) -> list[Text]:
    """Heads, one line for each group, and the total; a bar where there is room for one."""
    latest = report.by in ("day", "month")
    shown = report.rows[-limit:] if latest else report.rows[:limit]
    digits = 4 if report.total.dollars < 1 else 2
    titled = report.by == "session"
    sums = [*(row.spent for row in shown), report.total]
    prices = _in_column([price_text(spent, digits) for spent in sums])
    counts = [_counts(spent) for spent in sums]
    widths = [max(len(head), *(len(each[at]) for each in counts)) for at, head in enumerate(_HEADS)]
    # A narrow screen cuts the names, never a number.
    room = console.width - len(prices[0]) - sum(widths) - 2 * (len(widths) + 1) - _LEAST_TITLE * titled
    names = [_name(row, room) for row in shown] + [Text("total")]
    bar = 0 if titled else min(_LONGEST_BAR, room - max(name.cell_len for name in names) - 2)
    bars = _bars([row.spent for row in shown], bar) if bar >= _SHORTEST_BAR else []
    heads = [Text(head.rjust(width), style="dim") for head, width in zip(_HEADS, widths, strict=True)]
    table = [[Text(), Text(), *([Text()] if bars else []), *heads, *([Text()] if titled else [])]]
    for at, name in enumerate(names):
        is_total = at == len(shown)
        row = None if is_total else shown[at]
        style = "bold" if is_total else "italic" if row and row.kind != "named" else ""
        cells = [
            Text(name.plain, style=style),
            Text(prices[at], style="bold" if is_total else ""),
        ]
        if bars:
            cells.append(Text("" if is_total else bars[at], style="cyan"))
        cells += [Text(n.rjust(w), style="dim") for n, w in zip(counts[at], widths, strict=True)]
        if titled:
            cells.append(Text(one_line(row.title, _TITLE_WIDTH) if row else ""))
        table.append(cells)
    lines = align(table)
    if (left := len(report.rows) - len(shown)) > 0:
        where = 1 if latest else len(lines) - 1
        which = "earlier ones" if latest else "more"
        lines.insert(where, Text(f"… {left:,} {which}; --limit shows them", style="dim"))
    return lines


def _in_column(prices: Sequence[str]) -> list[str]:
    """The prices with their amounts below each other, whether something unknown follows or not."""
    some = any(price.endswith(_UNKNOWN) for price in prices)
    full = [price if price.endswith(_UNKNOWN) else price + " " * len(_UNKNOWN) * some for price in prices]
    width = max(map(len, full))
    return [price.rjust(width) for price in full]


def _name(row: CostsRow, room: int) -> Text:
    name = Text(one_line(row.name, _LONGEST_NAME) or "?")
    name.truncate(min(_NAME_WIDTH, max(_LEAST_NAME, room)), overflow="ellipsis")
    return name


def _counts(spent: Spent) -> tuple[str, ...]:
    numbers = (spent.calls, spent.input_tokens, spent.output_tokens, spent.cached_tokens)
    return tuple(f"{number:,}" for number in numbers)


def _bars(sums: Sequence[Spent], width: int) -> list[str]:
    """A bar for each sum: of its dollars, or of its tokens if nothing has a price."""
    by_price = any(spent.nano_dollars for spent in sums)
    values = [spent.nano_dollars if by_price else spent.tokens for spent in sums]
    most = max(values, default=0) or 1
    bars: list[str] = []
    for value in values:
        eighths = max(1, round(value / most * width * 8)) if value else 0
        bars.append("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip())
    return bars


def _notes(report: CostsReport, settings: Settings) -> Iterator[Text]:
    background = report.background
    if background.calls:
        tokens = f"{background.tokens:,} tokens"
        digits = 4 if report.total.dollars < 1 else 2
        yield Text(f"background work is {price_text(background, digits)} of it, {tokens}", style="dim")
    if estimated := report.total.estimated_tokens:
        yield Text(f"about {estimated:,} more tokens, which a server did not count", style="dim")
    for model, _, spent in report.without_price:
        what = f"price unknown: {spent.unpriced_tokens:,} tokens of {clean(model)}"
        yield Text(f"{what}{_way_out(model, settings)}", style="yellow")


def _way_out(model: str, settings: Settings) -> str:
    """How to tell the price: the settings know the providers of models, not those of embeddings."""
    provider, _, name = model.partition("/")
    if provider not in settings.providers:
        return ""
    prices = f"providers.{provider}.prices: {{{name}: {{input: …, output: …}}}}"
    return f"; set {clean(prices)}, in dollars for a million tokens (0 if it is free), and later calls count"
