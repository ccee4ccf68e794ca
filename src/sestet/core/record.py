"""Records that cost nothing before they are used: every start of the program defines all of them."""

from threading import RLock
from typing import ClassVar, TypeVar, cast, dataclass_transform, get_origin

T = TypeVar("T")

_FIELDS = "__dataclass_fields__"


class Values:
    """Compared and shown by the values of all fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and type(self) is type(other) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        # The first value tells most of them apart, and unlike some of the others it can be hashed.
        return hash((type(self), next(iter(self.as_dict().values()), None)))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def as_dict(self) -> dict[str, object]:
        """The values by the names of their fields."""
        return {name: getattr(self, name) for name in names_of(type(self))}


def names_of(record: type) -> tuple[str, ...]:
    """The names of all fields of a record."""
    return getattr(record, "__match_args__", ())


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A slotted dataclass below ``Values`` whose fields are never set again; the type checker sees to that.

    What makes it a dataclass takes nine times as long as the class itself, and is done on first use.
    """
    names = [name for name, hint in cls.__annotations__.items() if get_origin(hint) is not ClassVar]
    namespace = {key: value for key, value in cls.__dict__.items() if key not in (*names, *_OF_EVERY_CLASS)}
    namespace["__slots__"] = tuple(names)
    namespace["__match_args__"] = (*names_of(cls.__bases__[0]), *names)
    namespace["__init__"] = _init_first
    namespace["__signature__"] = _SIGNATURE
    namespace[_FIELDS] = _Unbuilt(cls)
    return cast("type[T]", type(cls)(cls.__name__, cls.__bases__, namespace))


_OF_EVERY_CLASS = ("__dict__", "__weakref__")
#: A record that extends another one builds that first, so the lock is taken twice.
_building = RLock()


class _Unbuilt:
    """Stands for the fields of a record until somebody asks for them."""

    def __init__(self, written: type) -> None:
        self.written = written

    def __get__(self, instance: object, owner: type) -> object:
        with _building:
            for cls in owner.__mro__:
                # Another thread may have been first; a record that extends this one has fields of its own.
                if cls.__dict__.get(_FIELDS) is self:
                    _build(cls, self.written)
        return getattr(owner, _FIELDS)


class _Signature:
    """Builds the record before ``inspect`` looks at its ``__init__``."""

    def __get__(self, instance: object, owner: type) -> object:
        getattr(owner, _FIELDS)
        raise AttributeError("__signature__")


_SIGNATURE = _Signature()


def _init_first(self: object, *args: object, **kwargs: object) -> None:
    """The ``__init__`` of a record that has never been made: gives way to the real one."""
    getattr(type(self), _FIELDS)
    type(self).__init__(self, *args, **kwargs)


def _build(made: type, written: type) -> None:
    from dataclasses import dataclass

    # Without a docstring of its own a dataclass composes one, at some cost.
    written.__doc__ = written.__doc__ or written.__name__
    dataclass(eq=False, repr=False)(written)
    for name in ("__init__", _FIELDS, "__dataclass_params__"):
        setattr(made, name, written.__dict__[name])
