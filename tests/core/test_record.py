"""Records are compared, hashed and shown by their values."""

import inspect
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields, is_dataclass, replace
from threading import Barrier
from typing import ClassVar

import pytest

from sestet.core.record import Values, names_of, record


@record
class Place(Values):
    town: str


@record
class House(Place):
    number: int = 1


@record
class Shop(Place):
    number: int = 1


def test_two_records_are_equal_when_they_are_of_one_kind_and_all_values_are() -> None:
    assert House("Oslo", 2) == House("Oslo", number=2)
    assert House("Oslo", 2) != House("Rome", 2)
    assert House("Oslo", 2) != House("Oslo", 3)
    assert House("Oslo", 2) != Shop("Oslo", 2)
    assert House("Oslo", 2) != ("Oslo", 2)
    assert len({House("Oslo"), House("Oslo", 1), Shop("Oslo")}) == 2


def test_a_record_is_shown_with_all_of_its_values() -> None:
    assert repr(House("Oslo", 2)) == "House(town='Oslo', number=2)"


def test_a_changed_record_is_another_one() -> None:
    house = House("Oslo")

    assert replace(house, number=5) == House("Oslo", 5)
    assert house == House("Oslo")


def test_a_record_is_a_dataclass_before_the_first_one_is_made() -> None:
    @record
    class Door(Place):
        kind: ClassVar[str] = "door"
        open: bool = False

    assert is_dataclass(Door)
    assert [each.name for each in fields(Door)] == ["town", "open"]
    assert names_of(Door) == ("town", "open")
    assert Door("Oslo").open is False


def test_a_record_survives_the_way_to_another_process() -> None:
    sent = pickle.dumps(House("Oslo", 2))

    assert pickle.loads(sent) == House("Oslo", 2)  # noqa: S301 - our own


def test_a_record_that_was_never_made_shows_its_signature() -> None:
    @record
    class Boat(Values):
        name: str
        sails: int = 2

    assert str(inspect.signature(Boat)) == "(name: str, sails: int = 2) -> None"
    assert str(inspect.signature(Boat)) == "(name: str, sails: int = 2) -> None"


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("eager_threads")
def test_a_record_that_several_threads_make_first_keeps_its_defaults() -> None:
    for _ in range(100):

        @record
        class Shelf(Values):
            books: list[str] = field(default_factory=list[str])

        together = Barrier(4)

        def make(_: int, shelf: type[Shelf] = Shelf, together: Barrier = together) -> Shelf:
            together.wait()
            return shelf()

        with ThreadPoolExecutor(4) as threads:
            assert [made.books for made in threads.map(make, range(4))] == [[], [], [], []]
