"""What the author of AgentDojo's tools would declare about each of them, as data."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Mode = Literal["off", "sensible", "all"]
MODES: tuple[Mode, ...] = ("off", "sensible", "all")

Reads = tuple[Literal["untrusted", "private"], ...]

#: Words of others in the person's own accounts: mails, calendar entries, files, messages, transactions.
_BOTH: Reads = ("untrusted", "private")
#: Public pages and listings.
_PUBLIC: Reads = ("untrusted",)


class Declaration(NamedTuple):
    """The declarations of one tool; ``prefix`` decides which specialist owns it."""

    prefix: str
    reads: Reads = ()
    effect: Literal["none", "local", "external", "money"] = "none"
    #: The arguments that choose who receives something, where it goes, or which thing is changed.
    targets: tuple[str, ...] = ()
    #: The other arguments that decide what happens: dates, amounts, names, attached files.
    further: tuple[str, ...] = ()
    risk: Literal["safe", "guarded"] = "safe"
    #: Argument → ``format`` in its schema, where the argument's name does not say what it is.
    formats: Mapping[str, str] = {}

    def targets_in(self, mode: Mode) -> tuple[str, ...]:
        return (*self.targets, *self.further) if mode == "all" else self.targets


class Specialist(NamedTuple):
    prefix: str
    name: str
    work: str


SPECIALISTS = (
    Specialist("mail_", "postman", "mail and contacts"),
    Specialist("calendar_", "secretary", "the calendar"),
    Specialist("drive_", "archivist", "files in the cloud drive"),
    Specialist("travel_", "agent", "hotels, restaurants, cars and flights"),
    Specialist("bank_", "banker", "the bank account"),
    Specialist("chat_", "messenger", "channels and direct messages"),
    Specialist("web_", "reader", "web pages"),
)


def _read(prefix: str, reads: Reads) -> Declaration:
    return Declaration(prefix, reads)


def _own(prefix: str, *targets: str) -> Declaration:
    """A change of the person's own things: nobody else receives anything."""
    return Declaration(prefix, (), "local", targets)


def _send(
    prefix: str,
    targets: tuple[str, ...],
    further: tuple[str, ...] = (),
    *,
    reads: Reads = (),
    formats: Mapping[str, str] | None = None,
) -> Declaration:
    return Declaration(prefix, reads, "external", targets, further, formats=formats or {})


_EVENT_TIMES = ("start_time", "end_time")

#: Function of AgentDojo → what its author would declare.
TOOLS: Mapping[str, Declaration] = {
    # mail
    "send_email": _send("mail_", ("recipients", "cc", "bcc"), ("attachments",)),
    "delete_email": _own("mail_", "email_id"),
    "get_unread_emails": _read("mail_", _BOTH),
    "get_sent_emails": _read("mail_", _BOTH),
    "get_received_emails": _read("mail_", _BOTH),
    "get_draft_emails": _read("mail_", _BOTH),
    "search_emails": _read("mail_", _BOTH),
    "search_contacts_by_name": _read("mail_", _BOTH),
    "search_contacts_by_email": _read("mail_", _BOTH),
    # calendar: participants get an invitation
    "get_current_day": _read("calendar_", ()),
    "search_calendar_events": _read("calendar_", _BOTH),
    "get_day_calendar_events": _read("calendar_", _BOTH),
    "create_calendar_event": _send(
        "calendar_", ("title", "participants"), (*_EVENT_TIMES, "location"), formats={"title": "text"}
    ),
    "cancel_calendar_event": _send("calendar_", ("event_id",)),
    "reschedule_calendar_event": _send("calendar_", ("event_id",), ("new_start_time", "new_end_time")),
    "add_calendar_event_participants": _send("calendar_", ("event_id", "participants")),
    # drive
    "search_files_by_filename": _read("drive_", _BOTH),
    "get_file_by_id": _read("drive_", _BOTH),
    "list_files": _read("drive_", _BOTH),
    "search_files": _read("drive_", _BOTH),
    "append_to_file": _own("drive_", "file_id"),
    "create_file": _own("drive_", "filename"),
    "delete_file": _own("drive_", "file_id"),
    "share_file": _send("drive_", ("file_id", "email"), ("permission",)),
    # travel
    "get_user_information": _read("travel_", ("private",)),
    "get_all_hotels_in_city": _read("travel_", _PUBLIC),
    "get_hotels_prices": _read("travel_", _PUBLIC),
    "get_rating_reviews_for_hotels": _read("travel_", _PUBLIC),
    "get_hotels_address": _read("travel_", _PUBLIC),
    "get_all_restaurants_in_city": _read("travel_", _PUBLIC),
    "get_cuisine_type_for_restaurants": _read("travel_", _PUBLIC),
    "get_restaurants_address": _read("travel_", _PUBLIC),
    "get_rating_reviews_for_restaurants": _read("travel_", _PUBLIC),
    "get_dietary_restrictions_for_all_restaurants": _read("travel_", _PUBLIC),
    "get_contact_information_for_restaurants": _read("travel_", _PUBLIC),
    "get_price_for_restaurants": _read("travel_", _PUBLIC),
    "check_restaurant_opening_hours": _read("travel_", _PUBLIC),
    "get_all_car_rental_companies_in_city": _read("travel_", _PUBLIC),
    "get_car_types_available": _read("travel_", _PUBLIC),
    "get_rating_reviews_for_car_rental": _read("travel_", _PUBLIC),
    "get_car_fuel_options": _read("travel_", _PUBLIC),
    "get_car_rental_address": _read("travel_", _PUBLIC),
    "get_car_price_per_day": _read("travel_", _PUBLIC),
    "get_flight_information": _read("travel_", _PUBLIC),
    "reserve_hotel": _send("travel_", ("hotel",), ("start_day", "end_day"), formats={"hotel": "name"}),
    "reserve_restaurant": _send("travel_", ("restaurant",), ("start_time",), formats={"restaurant": "name"}),
    "reserve_car_rental": _send("travel_", ("company",), _EVENT_TIMES, formats={"company": "name"}),
    # bank
    "get_iban": _read("bank_", ("private",)),
    "get_balance": _read("bank_", ("private",)),
    "get_most_recent_transactions": _read("bank_", _BOTH),
    "get_scheduled_transactions": _read("bank_", _BOTH),
    "read_file": _read("bank_", _BOTH),
    "get_user_info": _read("bank_", ("private",)),
    "send_money": Declaration("bank_", (), "money", ("recipient",), ("amount", "date")),
    "schedule_transaction": Declaration(
        "bank_", (), "money", ("recipient",), ("amount", "date", "recurring")
    ),
    "update_scheduled_transaction": Declaration(
        "bank_", (), "money", ("id", "recipient"), ("amount", "date", "recurring")
    ),
    "update_password": Declaration("bank_", (), "external", ("password",), risk="guarded"),
    "update_user_info": _send("bank_", ("first_name", "last_name", "street", "city")),
    # chat
    "get_channels": _read("chat_", _BOTH),
    "read_channel_messages": _read("chat_", _BOTH),
    "read_inbox": _read("chat_", _BOTH),
    "get_users_in_channel": _read("chat_", _BOTH),
    "add_user_to_channel": _send("chat_", ("user", "channel")),
    "send_direct_message": _send("chat_", ("recipient",), formats={"recipient": "name"}),
    "send_channel_message": _send("chat_", ("channel",)),
    "invite_user_to_slack": _send("chat_", ("user", "user_email")),
    "remove_user_from_slack": _send("chat_", ("user",)),
    # web: fetching a page tells its server something, so the address is a receiver
    "get_webpage": _send("web_", ("url",), reads=_PUBLIC),
    "post_webpage": _send("web_", ("url",)),
}


def tool_name(function: str) -> str:
    """The name of an AgentDojo function as a tool of Sestet."""
    return f"{TOOLS[function].prefix}{function}"


def owner_of(function: str) -> str:
    """The specialist that owns an AgentDojo function."""
    prefix = TOOLS[function].prefix
    return next(each.name for each in SPECIALISTS if each.prefix == prefix)


_EFFECTS = frozenset(tool_name(function) for function, declared in TOOLS.items() if declared.effect != "none")


def has_effect(tool: str) -> bool:
    """Whether a tool changes or sends something."""
    return tool in _EFFECTS
