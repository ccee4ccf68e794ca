"""Whom a model call goes to, in the words of the settings."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from sestet.config.settings import ProviderSettings, Secret


class Vendor(NamedTuple):
    """What has to be known about a protocol before anything of it is loaded."""

    url: str
    #: Where its users keep their key.
    variable: str
    package: str
    #: What of ours brings the package; empty: the base install.
    extra: str


VENDORS: Mapping[str, Vendor] = {
    "openai": Vendor("https://api.openai.com/v1", "OPENAI_API_KEY", "openai", ""),
    "anthropic": Vendor("https://api.anthropic.com", "ANTHROPIC_API_KEY", "anthropic", "anthropic"),
    "google": Vendor("https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "google.genai", "google"),
}


class Account(NamedTuple):
    """A service that answers for a key, as set-up offers it to a person who has one."""

    #: As the settings name it under ``providers``.
    id: str
    name: str
    #: A key of ``VENDORS``.
    type: str
    #: The environment variables in which its users keep their key.
    variables: tuple[str, ...]
    #: A capable model of moderate price.
    model: str
    #: Empty: the address of the type.
    base_url: str = ""


ACCOUNTS = (
    Account("openai", "OpenAI", "openai", (VENDORS["openai"].variable,), "gpt-4.1-mini"),
    Account("anthropic", "Anthropic", "anthropic", (VENDORS["anthropic"].variable,), "claude-sonnet-4-5"),
    Account("google", "Google", "google", (VENDORS["google"].variable, "GOOGLE_API_KEY"), "gemini-2.5-flash"),
    Account(
        "openrouter",
        "OpenRouter",
        "openai",
        ("OPENROUTER_API_KEY",),
        "openai/gpt-4.1-mini",
        "https://openrouter.ai/api/v1",
    ),
)


class Endpoint(NamedTuple):
    """One model at one provider."""

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
        """For a sentence: without a name and password that may stand in the address."""
        return f"'{self.provider_id}' at {without_password(self.base_url)}"

    @property
    def key_setting(self) -> str:
        return f"providers.{self.provider_id}.apiKey"

    @property
    def key_origin(self) -> str:
        """Where the key that is used was written down, as far as that is known."""
        key = self.settings.api_key
        if isinstance(key, Secret) and key.variable:
            return f"{self.key_setting}, which is the environment variable {key.variable}"
        if isinstance(key, Secret) and key.file:
            return f"{self.key_setting} of {key.file}"
        return self.key_setting

    @property
    def key_remedy(self) -> str:
        """How to give a key that is accepted."""
        key = self.settings.api_key
        if isinstance(key, Secret) and key.variable:
            return f"set {key.variable} to a valid key and start again"
        variable = self.vendor.variable
        return f"write 'apiKey: ${{{variable}}}' there and the key into the environment variable {variable}"

    def without_secrets(self, text: str) -> str:
        for secret in (self.settings.api_key, urlsplit(self.base_url).password):
            if secret:
                text = text.replace(secret, "***")
        return text

    def problems(self) -> Iterator[str]:
        """Why no call can be made with these settings; nothing is loaded to find out."""
        settings, vendor = self.settings, self.vendor
        if settings.base_url and not is_address(settings.base_url):
            yield f"baseUrl: {settings.base_url!r} is not an address; write it as http://127.0.0.1:11434/v1"
        if not settings.base_url and not settings.api_key:
            yield (
                "apiKey: is empty, and the vendor's own address (no baseUrl) needs a key; "
                f"write 'apiKey: ${{{vendor.variable}}}' and the key into that environment variable"
            )
        if not (settings.api_key.isascii() and settings.api_key.isprintable()):
            # A key with a line break or a typographic dash would fail far from here, in the words of a codec.
            yield "apiKey: has characters that no key has; was more than the key copied?"
        if settings.tool_calls == "text" and settings.type != "openai":
            yield f"toolCalls: 'text' is for servers that speak OpenAI's protocol, not '{settings.type}'"
        if not is_installed(vendor.package):
            yield f"type: '{settings.type}' needs a package that is not installed: {install_command(vendor)}"


def install_command(vendor: Vendor) -> str:
    return f"pip install 'sestet[{vendor.extra}]'" if vendor.extra else "pip install sestet"


def is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        # The package that it would lie in is not there either.
        return False


def without_password(address: str) -> str:
    """An address as it can be shown: without a name and password that may stand in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def is_address(text: str) -> bool:
    """Whether a server can be asked there."""
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False
