"""The fitting finds the right weights, and the same ones every time."""

import numpy
import pytest
from numpy.typing import NDArray

from sestet.evals.training.fitting import (
    Dense,
    Recipe,
    fit,
    fit_network,
    join_networks,
    log_softmax,
    minimise,
    sparse,
)

Floats = NDArray[numpy.floating]


def test_the_bottom_of_a_bent_valley_is_found() -> None:
    def valley(point: Floats) -> tuple[float, Floats]:
        x, y = point
        value = float((1 - x) ** 2 + 100 * (y - x * x) ** 2)
        return value, numpy.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])

    assert minimise(valley, numpy.array([-1.2, 1.0]), 200) == pytest.approx([1, 1], abs=1e-3)


def test_a_sparse_matrix_multiplies_like_a_full_one() -> None:
    rows = [[(0, 1.0), (3, 2.0)], [], [(3, -1.0)]]
    full = numpy.array([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, -1]])
    weights, errors = numpy.arange(8.0).reshape(4, 2), numpy.arange(6.0).reshape(3, 2)
    assert sparse(rows, 4).times(weights) == pytest.approx(full @ weights)
    assert sparse(rows, 4).transposed_times(errors) == pytest.approx(full.T @ errors)


def test_a_head_learns_which_feature_speaks_for_which_class() -> None:
    inputs, targets = numpy.eye(3)[[0, 0, 1, 1, 2, 2]], numpy.eye(3)[[2, 2, 0, 0, 1, 1]]
    head = fit(Dense(inputs), 3, targets, penalty=0.01)
    assert (inputs @ head.weights + head.bias).argmax(axis=1).tolist() == [2, 2, 0, 0, 1, 1]


def test_probabilities_add_up_even_for_huge_scores() -> None:
    assert numpy.exp(log_softmax(numpy.array([[1e4, 0.0, -1e4]]))).sum() == pytest.approx(1)


def test_a_network_learns_what_no_straight_line_divides_and_the_same_each_time() -> None:
    corners = numpy.array([[0, 0], [0, 1], [1, 0], [1, 1]], numpy.float32)
    inputs, targets = (
        numpy.tile(corners, (50, 1)),
        numpy.tile(numpy.eye(2, dtype=numpy.float32)[[0, 1, 1, 0]], (50, 1)),
    )
    recipe = Recipe(hidden=16, dropped=(0.0, 0.0), rounds=60, batch=20, rate=0.02)
    one, two = (fit_network(inputs, targets, seed=1, recipe=recipe) for _ in range(2))
    assert one.scores(corners).argmax(axis=1).tolist() == [0, 1, 1, 0]
    assert (one.inner.weights == two.inner.weights).all()


def test_joined_networks_say_what_they_say_on_average() -> None:
    random = numpy.random.default_rng(0)
    inputs, targets = random.random((20, 3), numpy.float32), numpy.eye(2, dtype=numpy.float32)[[0, 1] * 10]
    networks = [
        fit_network(inputs, targets, seed, Recipe(hidden=4, dropped=(0.1, 0.1), rounds=2)) for seed in (1, 2)
    ]
    mean = (networks[0].scores(inputs) + networks[1].scores(inputs)) / 2
    assert join_networks(networks).scores(inputs) == pytest.approx(mean, abs=1e-5)
