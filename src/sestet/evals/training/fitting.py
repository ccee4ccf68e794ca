"""Fits the router's models: logistic regression and a small network, in numpy."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[numpy.floating]
    Integers: TypeAlias = NDArray[numpy.int64]


class Entries(NamedTuple):
    """The numbers of a sparse matrix, sorted by the side along which they are summed."""

    places: "Integers"
    others: "Integers"
    values: "Floats"
    #: Where each place begins in ``places``, and the places that occur.
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
    """A sparse matrix, sorted by row and by column."""

    by_row: Entries
    by_column: Entries

    def times(self, weights: "Floats") -> "Floats":
        return self.by_row.times(weights)

    def transposed_times(self, errors: "Floats") -> "Floats":
        return self.by_column.times(errors)


class Dense(NamedTuple):
    """The same two products for a dense matrix."""

    matrix: "Floats"

    def times(self, weights: "Floats") -> "Floats":
        return self.matrix @ weights

    def transposed_times(self, errors: "Floats") -> "Floats":
        return self.matrix.T @ errors


class Head(NamedTuple):
    """A weight for each feature and class, and a bias for each class."""

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
    """The head that makes the targets likeliest, with an L2 penalty on the weights."""
    import numpy

    classes: int = targets.shape[1]
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
    """Limited-memory BFGS."""
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
    """The slope, corrected for the curvature seen in the last steps."""
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


class Network(NamedTuple):
    """One hidden layer between the inputs and the classes."""

    inner: Head
    outer: Head

    def scores(self, inputs: "Floats") -> "Floats":
        import numpy

        hidden = numpy.maximum(inputs @ self.inner.weights + self.inner.bias, 0)
        return hidden @ self.outer.weights + self.outer.bias


class Recipe(NamedTuple):
    """How a network is trained."""

    hidden: int
    #: Dropout: the share of inputs and of hidden values left out at random.
    dropped: tuple[float, float]
    rounds: int
    batch: int = 128
    rate: float = 2e-3
    decay: float = 1e-3


def fit_network(inputs: "Floats", targets: "Floats", seed: int, recipe: Recipe) -> Network:
    """A network trained with Adam on small batches; the seed fixes all randomness."""
    import numpy

    random = numpy.random.default_rng(seed)
    width, classes = inputs.shape[1], targets.shape[1]
    parameters = [
        random.standard_normal((width, recipe.hidden), numpy.float32) * (2 / width) ** 0.5,
        numpy.zeros(recipe.hidden, numpy.float32),
        random.standard_normal((recipe.hidden, classes), numpy.float32) * (1 / recipe.hidden) ** 0.5,
        numpy.zeros(classes, numpy.float32),
    ]
    means = [numpy.zeros_like(parameter) for parameter in parameters]
    squares = [numpy.zeros_like(parameter) for parameter in parameters]
    step = 0
    for number in range(recipe.rounds):
        rate = recipe.rate * (1 - number / recipe.rounds)
        order = random.permutation(len(inputs))
        for start in range(0, len(order), recipe.batch):
            chosen = order[start : start + recipe.batch]
            slopes = _slopes(parameters, inputs[chosen], targets[chosen], random, recipe.dropped)
            step += 1
            for index, slope in enumerate(slopes):
                means[index] = 0.9 * means[index] + 0.1 * slope
                squares[index] = 0.999 * squares[index] + 0.001 * slope * slope
                mean, square = means[index] / (1 - 0.9**step), squares[index] / (1 - 0.999**step)
                decay = 0.0 if parameters[index].ndim == 1 else recipe.decay
                parameters[index] = parameters[index] - rate * (
                    mean / (numpy.sqrt(square) + 1e-8) + decay * parameters[index]
                )
    inner_weights, inner_bias, outer_weights, outer_bias = parameters
    return Network(Head(inner_weights, inner_bias), Head(outer_weights, outer_bias))


def join_networks(networks: "Sequence[Network]") -> Network:
    """One wider network whose scores are the means of the given ones."""
    import numpy

    return Network(
        Head(
            numpy.hstack([network.inner.weights for network in networks]),
            numpy.hstack([network.inner.bias for network in networks]),
        ),
        Head(
            numpy.vstack([network.outer.weights for network in networks]) / len(networks),
            numpy.mean([network.outer.bias for network in networks], axis=0),
        ),
    )


def _slopes(
    parameters: "Sequence[Floats]",
    inputs: "Floats",
    targets: "Floats",
    random: "numpy.random.Generator",
    dropped: tuple[float, float],
) -> "list[Floats]":
    """How the loss of one batch changes with each parameter."""
    import numpy

    inner, inner_bias, outer, outer_bias = parameters
    inputs = inputs * _kept(inputs.shape, random, dropped[0])
    kept = _kept((len(inputs), len(outer)), random, dropped[1])
    hidden = numpy.maximum(inputs @ inner + inner_bias, 0) * kept
    errors = (numpy.exp(log_softmax(hidden @ outer + outer_bias)) - targets) / len(inputs)
    back = (errors @ outer.T) * kept * (hidden > 0)
    return [inputs.T @ back, back.sum(axis=0), hidden.T @ errors, errors.sum(axis=0)]


def _kept(shape: tuple[int, ...], random: "numpy.random.Generator", dropped: float) -> "Floats":
    import numpy

    return (random.random(shape, numpy.float32) >= dropped) / numpy.float32(1 - dropped)
