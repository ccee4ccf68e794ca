"""Records are compared and shown by their values."""

import pickle
from typing import ClassVar

import pytest

from sestet.core.record import Record, as_dict, field, replace


class Place(Record):
    town: str


class House(Place):
    kind: ClassVar[str] = "house"
    number: int = 1


class Shop(Place):
    number: int = 1
    goods: list[str] = field(default_factory=list[str])


def test_two_records_are_equal_when_they_are_of_one_kind_and_all_values_are() -> None:
    assert House("Oslo", 2) == House("Oslo", number=2)
    assert House("Oslo", 2) != House("Rome", 2)
    assert House("Oslo", 2) != House("Oslo", 3)
    assert House("Oslo", 2) != Shop("Oslo", 2)
    assert House("Oslo", 2) != ("Oslo", 2)
    assert Shop("Oslo", goods=["tea"]) == Shop("Oslo", goods=["tea"])


def test_a_record_can_be_hashed_although_it_holds_a_list() -> None:
    assert len({Shop("Oslo", goods=["tea"]), Shop("Oslo", goods=["tea"]), Shop("Oslo"), House("Oslo")}) == 3


def test_a_record_is_shown_with_all_of_its_values() -> None:
    assert repr(House("Oslo", 2)) == "House(town='Oslo', number=2)"


def test_a_changed_record_is_another_one() -> None:
    house = House("Oslo")

    assert replace(house, number=5) == House("Oslo", 5)
    assert house == House("Oslo")


def test_no_field_of_a_record_is_set_again() -> None:
    house = House("Oslo")

    with pytest.raises(AttributeError):
        house.number = 2  # pyright: ignore[reportAttributeAccessIssue] - that is the test


def test_a_record_as_a_dictionary_has_its_fields_and_no_more() -> None:
    assert as_dict(House("Oslo", 2)) == {"town": "Oslo", "number": 2}


def test_a_record_survives_the_way_to_another_process() -> None:
    sent = pickle.dumps(House("Oslo", 2))

    assert pickle.loads(sent) == House("Oslo", 2)  # noqa: S301 - our own


def test_no_two_records_share_a_list_that_neither_was_given() -> None:
    first, second = Shop("Oslo"), Shop("Rome")

    assert first.goods is not second.goods
