"""The model vendors that Sestet knows: protocol, address, key variable and package of each."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from sestet.core.record import Record

#: The protocols that a provider can speak. Each is also the id of the vendor that defined it.
ProviderType: TypeAlias = Literal["openai", "anthropic", "google"]
#: The provider id of the built-in model. It needs no entry under `providers`.
OFFLINE = "offline"
#: The provider id of models that run in this process, from files on this machine. It needs no entry either.
LOCAL = "local"
#: The provider id of the model that answers by a file of rules, which `agent.model` names.
SCRIPTED = "scripted"


class Vendor(Record):
    """One vendor; nothing of its package is loaded to know this."""

    name: str
    type: ProviderType
    url: str
    #: The environment variables in which its users keep their key, the usual one first.
    variables: tuple[str, ...]
    #: A capable model of moderate price.
    model: str
    package: str
    #: The extra of ours that installs the package; empty for the base install.
    extra: str = ""

    @property
    def variable(self) -> str:
        return self.variables[0]


#: By provider id.
VENDORS: Mapping[str, Vendor] = {
    "openai": Vendor(
        "OpenAI", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-4.1-mini", "openai"
    ),
    "anthropic": Vendor(
        "Anthropic",
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        "claude-sonnet-4-5",
        "anthropic",
        "anthropic",
    ),
    "google": Vendor(
        "Google",
        "google",
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-2.5-flash",
        "google.genai",
        "google",
    ),
    "openrouter": Vendor(
        "OpenRouter",
        "openai",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "openai/gpt-4.1-mini",
        "openai",
    ),
}
