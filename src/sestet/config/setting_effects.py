"""What the settings of a workspace would turn on, for a person who decides whether to accept them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sestet.config.settings import ADDRESSES
from sestet.core.masking import mask_address, mask_addresses
from sestet.core.schema import JsonValue

_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)")


class Effect(NamedTuple):
    """One thing that a workspace would turn on."""

    what: str
    value: str


def settings_effects(values: Mapping[str, JsonValue]) -> Iterable[Effect]:
    """What these settings would turn on, one by one."""
    settings = list(_flatten(values))
    # Looked for in the values and not in the text: YAML has other ways to write a '$'.
    texts = (value for _, value in settings if isinstance(value, str))
    variables = dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text))
    yield from (Effect("reads the variable", name) for name in variables)
    for key, value in settings:
        leaf, name = next((part for part in reversed(key) if not part.isdigit()), ""), ".".join(key)
        if leaf in ADDRESSES:
            yield Effect("sends to", f"{name}: {mask_address(str(value))}")
        elif key[:1] == ("mcpServers",) and key[2:3] in (("command",), ("args",)):
            yield Effect("starts", f"{name}: {value}")
        elif key[:1] in (("sandbox",), ("workspace",)):
            yield Effect("opens to commands", f"{name}: {value}")
        elif key[:2] in (("policy", "allow"), ("policy", "budgets")) or (
            key[:1] == ("mcpServers",) and key[2:3] == ("tools",)
        ):
            yield Effect("allows unasked", f"{name}: {value}")
        else:
            text = mask_addresses(json.dumps(value, ensure_ascii=False, default=str))
            hidden = leaf.lower().endswith("key") or key[2:3] in (("env",), ("headers",))
            yield Effect("sets", f"{name}: {'(not shown)' if hidden else text}")


def _flatten(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _flatten(item, (*path, str(name)))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _flatten(item, (*path, str(index)))
    else:
        yield path, value
