"""Similarities in standard deviations, and from which one on a text is near."""

import struct

import pytest

from sestet.services.embedding.noise import NEAR, Noise, Related, measure_noise, only_near


def related(*deviations: float) -> list[Related]:
    return [Related(number, 0.5, value, True) for number, value in enumerate(deviations)]


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def test_deviations_and_similarities_are_the_same_in_two_scales() -> None:
    noise = Noise(0.1, 0.05)
    assert noise.deviations(0.25) == pytest.approx(3)
    assert noise.similarity(3) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("deviations", "kept"),
    [
        ((), []),
        ((NEAR - 0.1, 2.0), []),
        ((NEAR, NEAR - 0.1), [NEAR]),
        ((6.0, 5.0, 4.9), [6.0, 5.0]),  # beside a far nearer one, what is only near is left out
    ],
)
def test_only_what_is_near_counts(deviations: tuple[float, ...], kept: list[float]) -> None:
    assert [one.deviations for one in only_near(related(*deviations))] == kept


def test_an_unknown_space_is_measured_by_its_vectors_and_a_related_one_does_not_matter() -> None:
    unrelated = [packed(0.70 + 0.01 * (number % 5), 0.7) for number in range(20)]
    noise = measure_noise(packed(1, 0), [*unrelated, packed(1, 0)])
    assert noise.mean == pytest.approx(0.72, abs=0.001)
    assert noise.deviations(1.0) > NEAR > noise.deviations(0.74)


def test_a_space_with_few_vectors_or_another_dimension_counts_as_unknown() -> None:
    unknown = measure_noise(packed(1, 0), [])
    assert unknown.deviations(0.67) > NEAR > unknown.deviations(0.64)
    assert measure_noise(packed(1, 0), [packed(1, 0, 0)] * 20) == unknown
