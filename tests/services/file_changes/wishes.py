"""The changes that tests ask a planner for."""

from functools import partial

from sestet.services.file_changes.plan import Planner
from sestet.services.file_changes.service import Wish


def write(path: str, text: str = "written by an attacker") -> Wish:
    return partial(Planner.write, path=path, text=text)


def edit(path: str, old: str = "secret", new: str = "written by an attacker") -> Wish:
    return partial(Planner.edit, path=path, old=old, new=new)


def append(path: str, text: str = "written by an attacker") -> Wish:
    return partial(Planner.append, path=path, text=text)


def make_directory(path: str) -> Wish:
    return partial(Planner.make_directory, path=path)


def move(path: str, destination: str) -> Wish:
    return partial(Planner.move, path=path, destination=destination)


def copy(path: str, destination: str) -> Wish:
    return partial(Planner.copy, path=path, destination=destination)


def delete(path: str) -> Wish:
    return partial(Planner.delete, path=path)


def name_of(wish: object) -> str | None:
    """The name of a test case: the change and its paths."""
    if not isinstance(wish, partial):
        return None
    paths = (str(value)[:40].encode("unicode_escape").decode() for value in wish.keywords.values())
    return " ".join((wish.func.__name__, *paths))
