"""The models that a person can choose: those of servers and accounts, and the built-in one."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sestet.config import Loaded, ProviderSettings, data_directory, load_settings
from sestet.config.installation import install_command
from sestet.config.load import first_set
from sestet.config.settings import Secret
from sestet.config.vendors import LOCAL, OFFLINE, VENDORS, Vendor
from sestet.core.errors import ConfigError, PersonError
from sestet.core.masking import mask_address
from sestet.core.schema import JsonValue, suggest
from sestet.models.files.catalogue import catalogue, model_file, own_files
from sestet.models.provider import LOCAL_PACKAGE, is_installed
from sestet.models.servers import ENOUGH_CONTEXT, ServedModel, Server, find_servers, usual_places
from sestet.setup.server_address import find_server

#: A file of this name in the data directory says that the person has been asked once.
MARK = "setup-offered"


class Choice(NamedTuple):
    """One model, and the settings with which it answers."""

    #: An id under ``providers``, or the name of the built-in model.
    provider: str
    model: str
    #: Where it runs.
    place: str
    #: What the person should know before choosing it.
    note: str = ""
    #: Members of ``providers.<provider>``.
    entry: Mapping[str, str] = {}
    server: Server | None = None
    #: Whether the person may name another model of the same provider.
    open: bool = False
    #: Whether its file has to be fetched first.
    absent: bool = False

    @property
    def id(self) -> str:
        """As ``--choose`` takes it."""
        return f"{self.provider}/{self.model}" if self.model else self.provider

    @property
    def is_found(self) -> bool:
        """Whether it is a model that is here already."""
        return bool(self.model) and not self.absent

    @property
    def can_call_in_text(self) -> bool:
        """Whether a trial with tool calls in text is worth it: for a model of a server, not yet set so."""
        return self.server is not None and "toolCalls" not in self.entry

    def in_text(self) -> "Choice":
        """The same model, with calls in text."""
        return self._replace(entry={**self.entry, "toolCalls": "text"})

    def changes(self) -> dict[tuple[str, ...], JsonValue]:
        """The values to write into the settings."""
        entry = {("providers", self.provider, name): value for name, value in self.entry.items()}
        return {("agent", "provider"): self.provider, ("agent", "model"): self.model, **entry}


def find_choices(
    places: Iterable[str] | None = None,
    providers: Mapping[str, ProviderSettings] | None = None,
    key: str = "",
) -> list[Choice]:
    """Every choice, the free ones first. ``providers`` are those that the settings have already.

    ``places`` are looked at instead of the usual ports; ``key`` is what their servers want.
    """
    known = providers or {}
    servers = find_servers(usual_places()) if places is None else [find_server(each, key) for each in places]
    return [
        *server_choices(servers, known, key),
        *_of_keys(known),
        *_in_process(),
        Choice(OFFLINE, "", "built in", "no model: knows requests by their words"),
        *_to_fetch(),
    ]


def describe_choice(choice: Choice) -> dict[str, str]:
    """A choice as JSON, without its key."""
    return {"id": choice.id, "place": choice.place, "note": choice.note}


def known_variables() -> list[str]:
    """The environment variables in which a key is looked for."""
    return [variable for vendor in VENDORS.values() for variable in vendor.variables]


def choose(choices: Sequence[Choice], wanted: str, model: str = "") -> Choice:
    """The choice of this number, id or provider, with ``model`` instead of the one that it suggests."""
    found = _find(choices, wanted.strip())
    if found is None:
        near = suggest(wanted, [choice.id for choice in choices]) or f"; there are {len(choices)}"
        raise PersonError(f"there is no choice '{wanted}'{near}: 'sestet setup --list' shows them")
    if not model:
        return found
    if not found.model:
        raise PersonError(f"'{found.id}' has no other models: leave out --model")
    return _find(choices, f"{found.provider}/{model}") or found._replace(model=model, note="")


def _find(choices: Sequence[Choice], wanted: str) -> Choice | None:
    if wanted.isdecimal():
        return choices[int(wanted) - 1] if 1 <= int(wanted) <= len(choices) else None
    return next((choice for choice in choices if wanted in (choice.id, choice.provider)), None)


def server_choices(
    servers: Iterable[Server], known: Mapping[str, ProviderSettings], key: str = ""
) -> Iterator[Choice]:
    """The models of servers; ``key`` is written into the settings with them."""
    taken: list[str] = []
    for server in servers:
        entry = {"baseUrl": server.base_url}
        provider = _provider_id(server.kind.id, entry, known, taken)
        taken.append(provider)
        entry |= {"apiKey": Secret(key)} if key else {}
        # A loaded model answers at once, so it comes first; a model that cannot call tools comes last.
        ranked = sorted(server.models, key=lambda model: (model.tools is False, not model.loaded))
        place = f"{server.kind.name} at {mask_address(server.root).partition('://')[2]}"
        for model in ranked:
            yield Choice(provider, model.name, place, _note(model), entry, server)


def _note(model: ServedModel) -> str:
    notes = ["loaded"] if model.loaded else []
    if model.tools is False:
        notes.append("cannot call tools")
    if model.context is not None and model.context < ENOUGH_CONTEXT:
        notes.append(f"reads only {model.context:,} tokens")
    return ", ".join(notes)


def _of_keys(known: Mapping[str, ProviderSettings]) -> Iterator[Choice]:
    for vendor_id, vendor in VENDORS.items():
        if variable := first_set(vendor.variables):
            yield vendor_choice(vendor_id, known, f"${{{variable}}}", f"key in {variable}")


def vendor_choice(
    vendor_id: str, known: Mapping[str, ProviderSettings], api_key: str, note: str = ""
) -> Choice:
    """The suggested model of a vendor, with this key or ``${VARIABLE}``."""
    vendor = VENDORS[vendor_id]
    entry = {"type": vendor.type} if vendor.type != "openai" else {}
    # The vendor of a protocol is reached at the address of the protocol.
    entry |= {"baseUrl": vendor.url} if vendor_id != vendor.type else {}
    provider = _provider_id(vendor_id, entry, known, ())
    entry["apiKey"] = Secret(api_key)
    note = "; ".join(filter(None, (note, missing_package(vendor))))
    return Choice(provider, vendor.model, vendor.name, note, entry, open=True)


def missing_package(vendor: Vendor) -> str:
    """What has to be installed for a vendor; empty when it is there."""
    return "" if is_installed(vendor.package) else f"needs {install_command(vendor.extra)}"


def why_no_key(text: str) -> str:
    """Why a text that the person gave is no key; empty when it may be one. The text is not repeated."""
    if "${" in text:
        return "That is the name of a variable; write the key itself."
    if not text.isascii() or not text.isprintable() or " " in text:
        return "It has characters that no key has. Was more than the key copied?"
    return ""


def can_run_local() -> bool:
    """Whether the package is installed that runs models inside this program."""
    return is_installed(LOCAL_PACKAGE)


def _in_process() -> Iterator[Choice]:
    """The models that run inside this program: its extra is installed, and their files are here."""
    if can_run_local():
        here = [name for name in catalogue() if model_file(name).is_file()]
        for name in (*here, *(file.stem for file in own_files())):
            yield Choice(LOCAL, name, "in this program", "a small model, without a server")


def _to_fetch() -> Iterator[Choice]:
    """The model to fetch, when none is here yet that runs inside this program."""
    if can_run_local() and not any(_in_process()):
        first = next(iter(catalogue().values()))
        note = f"a small model, without a server; {first.bytes / 10**9:.1f} GB to fetch"
        yield Choice(LOCAL, first.name, "in this program", note, absent=True)


def _provider_id(
    wanted: str, entry: Mapping[str, str], known: Mapping[str, ProviderSettings], taken: Sequence[str]
) -> str:
    """The id of the provider that the settings have at this address, else a free id."""
    address = (entry.get("type", "openai"), entry.get("baseUrl", ""))
    for name, provider in known.items():
        if (provider.type, provider.base_url.rstrip("/")) == address:
            return name
    names = [wanted, *(f"{wanted}{number}" for number in range(2, len(known) + len(taken) + 3))]
    return next(name for name in names if name not in known and name not in taken)


def known_providers(file: Path) -> dict[str, ProviderSettings]:
    """The providers of the settings; none when the file cannot be read, which the trial reports."""
    try:
        return dict(load_settings(file).settings.providers) if file.exists() else {}
    except ConfigError:
        return {}


def is_in_force(file: Path, choice: Choice) -> bool:
    """Whether the settings name this model already; a file that cannot be read names none."""
    try:
        agent = load_settings(file if file.exists() else None).settings.agent
    except ConfigError:
        return False
    return (agent.provider, agent.model) == (choice.provider, choice.model)


def is_offer_due(loaded: Loaded) -> bool:
    """Whether to offer the choices before a conversation: no model was chosen, and the person not asked."""
    chosen = loaded.file is not None or any(name.startswith("SESTET_AGENT") for name in loaded.overrides)
    return not chosen and not (data_directory() / MARK).exists()


def mark_offered() -> None:
    """Remember that the person has been asked."""
    path = data_directory() / MARK
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
