"""Records that are cheap to define: every start of the program defines all of them."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


class Values:
    """Compared and shown by the values of all fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _values(self) == _values(other)

    def __hash__(self) -> int:
        # The first value tells most of them apart, and unlike some of the others it can be hashed.
        return hash((type(self), next(iter(_values(self).values()), None)))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in _values(self).items())
        return f"{type(self).__name__}({', '.join(shown)})"


def _values(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in getattr(record, "__match_args__", ())}


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A dataclass below ``Values`` whose fields are never set again; the type checker sees to that.

    What ``dataclass(frozen=True)`` would generate for each class takes five times as long.
    """
    return dataclass(slots=True, eq=False, repr=False)(cls)
