"""A model as the settings name it: its provider, the address of the server, the key."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

from sestet.config.installation import install_command
from sestet.config.settings import ProviderSettings, Secret, Settings
from sestet.config.vendors import OFFLINE, VENDORS, Vendor
from sestet.core.masking import mask_address, mask_addresses, secrets_in
from sestet.core.record import Record
from sestet.core.schema import suggest

#: The package that runs models in this process, and how to install it.
LOCAL_PACKAGE = "xllamacpp"


class NamedModel(Record):
    """A model that the settings name, and the keys of the settings that name it."""

    provider: str
    model: str
    provider_key: str
    model_key: str


class Endpoint(Record):
    """One model at one provider, as the settings describe both."""

    provider_id: str
    model: str
    settings: ProviderSettings

    @property
    def vendor(self) -> Vendor:
        return VENDORS[self.settings.type]

    @property
    def base_url(self) -> str:
        return self.settings.base_url or self.vendor.url

    @property
    def server(self) -> str:
        """The provider and its address for a sentence, with its secrets masked."""
        return f"'{self.provider_id}' at {mask_address(self.base_url)}"

    @property
    def key_setting(self) -> str:
        return f"providers.{self.provider_id}.apiKey"

    @property
    def key_origin(self) -> str:
        """Where the key comes from, as far as we know: the setting, its variable or its file."""
        key = self.settings.api_key
        if isinstance(key, Secret) and key.variable:
            return f"{self.key_setting}, which is the environment variable {key.variable}"
        if isinstance(key, Secret) and key.file:
            return f"{self.key_setting} of {key.file}"
        return self.key_setting

    @property
    def key_remedy(self) -> str:
        """How to set a valid key."""
        key = self.settings.api_key
        if isinstance(key, Secret) and key.variable:
            return f"set {key.variable} to a valid key and start again"
        if key:
            return "write a valid key there"
        variable = self._variable
        return f"write 'apiKey: ${{{variable}}}' there and the key into the environment variable {variable}"

    @property
    def _variable(self) -> str:
        """The environment variable to suggest for the key: another server must not get a vendor's key."""
        if not self.settings.base_url or self.provider_id in VENDORS:
            return VENDORS.get(self.provider_id, self.vendor).variable
        return f"{re.sub(r'[^A-Z0-9]', '_', self.provider_id.upper())}_API_KEY"

    def without_secrets(self, text: str) -> str:
        for secret in (self.settings.api_key, *secrets_in(self.base_url)):
            if secret:
                text = text.replace(secret, "***")
        return mask_addresses(text)

    def problems(self) -> Iterator[str]:
        """Why these settings cannot work; loads nothing of the vendor."""
        settings, vendor = self.settings, self.vendor
        if settings.base_url and not is_address(settings.base_url):
            yield f"baseUrl: {mask_address(settings.base_url)!r} is not an address; write it as http://127.0.0.1:11434/v1"
        if not settings.base_url and not settings.api_key:
            yield (
                "apiKey: is empty, and the vendor's own address (no baseUrl) needs a key; "
                f"write 'apiKey: ${{{vendor.variable}}}' and the key into that environment variable"
            )
        if not (settings.api_key.isascii() and settings.api_key.isprintable()):
            # A line break or a typographic dash in a key would fail later, with an unclear codec error.
            yield "apiKey: has characters that no key has; was more than the key copied?"
        if settings.tool_calls == "text" and settings.type != "openai":
            yield f"toolCalls: 'text' is for servers that speak OpenAI's protocol, not '{settings.type}'"
        if not is_installed(vendor.package):
            needs = f"needs a package that is not installed: {install_command(vendor.extra)}"
            yield f"type: '{settings.type}' {needs}"


def vendor_problems(settings: Settings, named: NamedModel) -> list[str]:
    """Why a vendor's model that the settings name cannot work; loads nothing of the vendor."""
    provider = settings.providers.get(named.provider)
    problems: list[str] = []
    if provider is None:
        near = suggest(named.provider, [*settings.providers, OFFLINE])
        problems.append(f"{named.provider_key}: {named.provider!r} is not under providers{near}")
    else:
        found = Endpoint(named.provider, named.model, provider).problems()
        problems.extend(f"providers.{named.provider}.{problem}" for problem in found)
    if not named.model:
        problems.append(f"{named.model_key}: is empty; write the name that the provider has for the model")
    return problems


def is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        # The parent package is not installed either.
        return False


def is_address(text: str) -> bool:
    """Whether the text is an HTTP address with a host."""
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False
