"""The settings in force as a list: each with its value and its origin. Secrets are masked."""

from collections.abc import Iterator, Mapping

from sestet.config.load import Loaded
from sestet.config.settings import Settings, as_mapping
from sestet.core.schema import JsonValue


def describe_settings(loaded: Loaded) -> list[dict[str, JsonValue]]:
    return [{"key": key, "value": value, "source": source} for key, value, source in iter_values(loaded)]


def iter_values(loaded: Loaded) -> Iterator[tuple[str, JsonValue, str]]:
    """Key, value and origin of each setting."""
    defaults = dict(_flatten(as_mapping(Settings())))
    for path, value in _flatten(as_mapping(loaded.settings)):
        source = "default"
        if variable := _variable_for(path, loaded.overrides):
            source = variable
        elif path not in defaults or defaults[path] != value:
            source = str(loaded.file)
        yield ".".join(path), value, source


def _flatten(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _flatten(item, (*path, name))
    else:
        yield path, value


def _variable_for(path: tuple[str, ...], overrides: tuple[str, ...]) -> str:
    """The environment variable that set this key, or a whole section around it."""
    names = (f"SESTET_{'__'.join(path[:length])}".upper() for length in range(len(path), 0, -1))
    return next((name for name in names if name in overrides), "")
