"""Answers messages that need no specialist: small talk, sums, units, dates, and what is forbidden."""

from collections.abc import Sequence
from datetime import datetime

from sestet.models.offline.conversation import NOT_DONE, NOT_KEPT, OUTSIDE, TYPE_SECRETS, Conversation
from sestet.models.offline.dates import answer_date
from sestet.models.offline.howto import how_to
from sestet.models.offline.patterns import patterns_of
from sestet.models.offline.references import Exchange
from sestet.models.offline.retractions import forbids
from sestet.models.offline.statements import begins_with_request
from sestet.models.offline.sums import go_on_with_sum, work_out
from sestet.models.offline.units import convert_units
from sestet.models.offline.words import asks, clauses_of, trim_request

_SAID = patterns_of("understanding")


def answer_talk(text: str, conversation: Conversation, past: Sequence[Exchange], now: datetime) -> str:
    """The answer to small talk, a sum, or a question about the date; empty for any other message."""
    said = trim_request(text)
    answer = conversation.small_talk(text) or how_to(text) or conversation.small_talk(said)
    return answer or answer_exactly(said, past, now)


def answer_exactly(said: str, past: Sequence[Exchange], now: datetime) -> str:
    """The answer to a sum, a change of units or a question about the date; empty for any other request."""
    *_, last = (clause.text for clause in clauses_of(said))
    # "I'm doing double, what is 2 * 250" is a sum with a remark before it.
    is_remark = last != said and asks(last) and not begins_with_request(said)
    if answer := go_on_with_sum(said, [exchange.asked for exchange in past]):
        return answer
    for part in (said, last) if is_remark else (said,):
        if answer := work_out(trim_request(part)) or convert_units(part) or answer_date(part, now):
            return answer
    return ""


def answer_limits(text: str) -> str:
    """The answer to a message that forbids something, or asks for what no specialist may do; else empty."""
    if _SAID["keeps_nothing"].fullmatch(text.strip()):
        return NOT_KEPT
    if forbids(text):
        return NOT_DONE
    if _SAID["into_vault"].match(trim_request(text)):
        return TYPE_SECRETS
    return OUTSIDE if _SAID["outside"].search(text) else ""
