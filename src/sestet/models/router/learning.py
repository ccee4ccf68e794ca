"""Multinomial logistic regression in numpy, without chance in it: what the router's weights are learned with."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[numpy.float64]
    Integers: TypeAlias = NDArray[numpy.int64]


class Entries(NamedTuple):
    """The numbers of a sparse matrix, sorted by the side along which they are summed up."""

    places: "Integers"
    others: "Integers"
    values: "Floats"
    #: Where a new place begins, and which places there are.
    starts: "Integers"
    kept: "Integers"
    length: int

    def times(self, dense: "Floats") -> "Floats":
        import numpy

        result = numpy.zeros((self.length, dense.shape[1]))
        if len(self.values):
            result[self.kept] = numpy.add.reduceat(dense[self.others] * self.values[:, None], self.starts)
        return result


class Sparse(NamedTuple):
    """A matrix most of whose numbers are zero, both ways round."""

    by_row: Entries
    by_column: Entries

    def times(self, weights: "Floats") -> "Floats":
        return self.by_row.times(weights)

    def transposed_times(self, errors: "Floats") -> "Floats":
        return self.by_column.times(errors)


class Dense(NamedTuple):
    """The same two products for a matrix that is full."""

    matrix: "Floats"

    def times(self, weights: "Floats") -> "Floats":
        return self.matrix @ weights

    def transposed_times(self, errors: "Floats") -> "Floats":
        return self.matrix.T @ errors


class Head(NamedTuple):
    """A weight for each feature and class, and one for each class alone."""

    weights: "Floats"
    bias: "Floats"


def sparse(rows: Sequence[Sequence[tuple[int, float]]], width: int) -> Sparse:
    """A matrix from the columns and values of each row."""
    import numpy

    places = numpy.repeat(numpy.arange(len(rows)), [len(row) for row in rows])
    columns = numpy.array([column for row in rows for column, _ in row], numpy.int64)
    values = numpy.array([value for row in rows for _, value in row], numpy.float64)
    return Sparse(_entries(places, columns, values, len(rows)), _entries(columns, places, values, width))


def _entries(places: "Integers", others: "Integers", values: "Floats", length: int) -> Entries:
    import numpy

    order = numpy.argsort(places, kind="stable")
    places, others, values = places[order], others[order], values[order]
    kept, starts = numpy.unique(places, return_index=True)
    return Entries(places, others, values, starts, kept, length)


def log_softmax(scores: "Floats") -> "Floats":
    import numpy

    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis=-1, keepdims=True))


def fit(matrix: Sparse | Dense, width: int, targets: "Floats", penalty: float, steps: int = 150) -> Head:
    """The head under which the targets (one probability a class) are likeliest, with small weights."""
    import numpy

    classes = targets.shape[1]
    size = width * classes

    def loss(flat: "Floats") -> "tuple[float, Floats]":
        weights, bias = flat[:size].reshape(width, classes), flat[size:]
        logs = log_softmax(matrix.times(weights) + bias)
        errors = numpy.exp(logs) * targets.sum(axis=1, keepdims=True) - targets
        slope = matrix.transposed_times(errors) + penalty * weights
        value = -float((targets * logs).sum()) + 0.5 * penalty * float((weights * weights).sum())
        return value, numpy.concatenate([slope.ravel(), errors.sum(axis=0)])

    found = minimise(loss, numpy.zeros(size + classes), steps)
    return Head(found[:size].reshape(width, classes), found[size:])


def minimise(loss: "Callable[[Floats], tuple[float, Floats]]", start: "Floats", steps: int) -> "Floats":
    """Limited-memory BFGS: downhill by the slopes of the last few steps."""
    import numpy

    point = start
    value, slope = loss(point)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(steps):
        direction = -_curved(slope, pairs)
        downhill = float(direction @ slope)
        length = 1.0 if pairs else 1.0 / max(1.0, float(numpy.sqrt(slope @ slope)))
        for _ in range(30):
            new_point = point + length * direction
            new_value, new_slope = loss(new_point)
            if new_value <= value + 1e-4 * length * downhill:
                break
            length *= 0.5
        else:
            break
        step, change = new_point - point, new_slope - slope
        if (curve := float(step @ change)) > 1e-12:
            pairs = [*pairs[-9:], (step, change, 1.0 / curve)]
        gained = value - new_value
        point, value, slope = new_point, new_value, new_slope
        if gained < 1e-7 * max(1.0, abs(value)):
            break
    return point


def _curved(slope: "Floats", pairs: "Sequence[tuple[Floats, Floats, float]]") -> "Floats":
    """The slope, corrected by what the last steps said about the curvature."""
    result = slope.copy()
    shares: list[float] = []
    for step, change, weight in reversed(pairs):
        share = weight * float(step @ result)
        result -= share * change
        shares.append(share)
    if pairs:
        step, change, _ = pairs[-1]
        result *= float(step @ change) / float(change @ change)
    for (step, change, weight), share in zip(pairs, reversed(shares), strict=True):
        result += (share - weight * float(change @ result)) * step
    return result
