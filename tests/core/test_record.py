"""Records are compared, hashed and shown by their values."""

from dataclasses import replace

from sestet.core.record import Values, record


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
