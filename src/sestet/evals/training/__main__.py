"""Learns the router's weights from the bank: ``python -m sestet.evals.training``.

Only the bank is learned from; the shipped test sets measure the result, see ``report``.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs] - it has none

from sestet.agents import default_specs
from sestet.evals.training import hash_bank, read_bank
from sestet.evals.training.fitting import (
    Dense,
    Head,
    Network,
    Recipe,
    Sparse,
    fit,
    fit_network,
    join_networks,
    log_softmax,
    minimise,
    sparse,
)
from sestet.models.router import Example
from sestet.models.router.classifiers import Lexicon, Likeness, PlaqueModel
from sestet.models.router.encoder import open_request_encoder
from sestet.models.router.features import features
from sestet.models.router.weights import (
    FILE,
    Measured,
    Tuning,
    Variant,
    Weights,
    pack_bank,
    pack_lines,
    pack_numbers,
    write_weights,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sestet.evals.training.fitting import Floats
    from sestet.models.router.classifiers import Embed, Vectors

# Chosen by cross-validation on the bank.
WORD_PENALTY = 1 / 30
LETTERS = 0.4
RECIPE = Recipe(hidden=128, dropped=(0.15, 0.3), rounds=30)
NETWORKS = 3
FOLDS = 5
#: The share of requests that may be above the threshold and wrong. The goal is 0.01 for real requests; they
#: differ from the bank, so the bank has a stricter limit.
FALSE_CONFIDENCE = 0.003


class Material(NamedTuple):
    """The bank in the forms that the models take."""

    bank: Sequence[Example]
    agents: list[str]
    targets: "Floats"
    vectors: "Floats"

    def choose(self, chosen: "NDArray[numpy.bool]") -> "Material":
        bank = [example for example, wanted in zip(self.bank, chosen, strict=True) if wanted]
        return Material(bank, self.agents, self.targets[chosen], self.vectors[chosen])


class Learned(NamedTuple):
    """The two trained models."""

    lexicon: Lexicon
    words: Head
    centre: "Floats"
    spread: "Floats"
    network: Network

    def predict_words(self, material: Material) -> "Floats":
        return log_softmax(_matrix(material, self.lexicon).times(self.words.weights) + self.words.bias)

    def standardise(self, vectors: "Floats") -> "Floats":
        return ((vectors - self.centre) / self.spread).astype(numpy.float32)

    def predict_sentences(self, material: Material) -> "Floats":
        return log_softmax(self.network.scores(self.standardise(material.vectors)).astype(numpy.float64))


def learn(material: Material, networks: int = NETWORKS) -> Learned:
    lexicon = count_features([example.request for example in material.bank])
    words = fit(_matrix(material, lexicon), len(lexicon.vocabulary), material.targets, WORD_PENALTY)
    centre, spread = material.vectors.mean(axis=0), material.vectors.std(axis=0) + 1e-6
    inputs = ((material.vectors - centre) / spread).astype(numpy.float32)
    targets = material.targets.astype(numpy.float32)
    taught = [fit_network(inputs, targets, seed, RECIPE) for seed in range(networks)]
    return Learned(lexicon, words, centre, spread, join_networks(taught))


def count_features(requests: Sequence[str]) -> Lexicon:
    """Every feature with its weight. Features that occur only once are dropped, except whole words."""
    counts = Counter(name for request in requests for name in features(request))
    names = sorted(
        name for name, count in counts.items() if count > 1 or not (" " in name or name.startswith("~"))
    )
    rarity = [
        (math.log((1 + len(requests)) / (1 + counts[name])) + 1) * (LETTERS if name.startswith("~") else 1)
        for name in names
    ]
    return Lexicon({name: row for row, name in enumerate(names)}, rarity)


def _matrix(material: Material, lexicon: Lexicon) -> Sparse:
    weighed = (lexicon.weigh(example.request) for example in material.bank)
    rows = [[(lexicon.vocabulary[name], value) for name, value in row.items()] for row in weighed]
    return sparse(rows, len(lexicon.vocabulary))


class Unseen(NamedTuple):
    """Log-probabilities by models that have not learned from the requests (cross-validation)."""

    words: "Floats"
    sentences: "Floats"


def predict_unseen(material: Material) -> Unseen:
    fold = numpy.random.default_rng(0).permutation(len(material.bank)) % FOLDS
    found = Unseen(numpy.zeros_like(material.targets), numpy.zeros_like(material.targets))
    for number in range(FOLDS):
        learned = learn(material.choose(fold != number))
        asked = material.choose(fold == number)
        found.words[fold == number] = learned.predict_words(asked)
        found.sentences[fold == number] = learned.predict_sentences(asked)
        print(f"fold {number + 1} of {FOLDS} done", flush=True)
    return found


def tune(models: Sequence["Floats"], targets: "Floats") -> "tuple[list[float], Floats]":
    """The exponents that calibrate the joined probabilities, and those probabilities."""

    def join(exponents: "Floats") -> "Floats":
        return log_softmax(numpy.tensordot(exponents, numpy.array(models), axes=1))

    def loss(exponents: "Floats") -> "tuple[float, Floats]":
        logs = join(exponents)
        errors = numpy.exp(logs) - targets
        return -float((targets * logs).sum()), numpy.array([float((errors * one).sum()) for one in models])

    exponents = minimise(loss, numpy.full(len(models), 0.5), 100)
    return exponents.tolist(), numpy.exp(join(exponents))


class Joined(NamedTuple):
    """How a variant joins its models, and its probabilities for unseen requests."""

    tuning: Tuning
    chances: "Floats"


def join(models: Sequence["Floats"], targets: "Floats") -> Joined:
    """The models' exponents, and the lowest threshold that keeps ``FALSE_CONFIDENCE``."""
    exponents, chances = tune(models, targets)
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == targets.argmax(axis=1)
    wrong = numpy.sort(confidence[~right])[::-1]
    threshold = math.ceil(float(wrong[int(FALSE_CONFIDENCE * len(right))]) * 10_000) / 10_000
    sure = confidence >= threshold
    measured = Measured(
        right=float(right.mean()),
        coverage=float(sure.mean()),
        false_confidence=float((sure & ~right).mean()),
    )
    print(f"threshold {threshold}, unseen requests: {measured}", flush=True)
    words, encoder = (*exponents, 0.0)[:2]
    return Joined(
        Tuning(words=words, encoder=encoder, threshold=threshold, guest=[], unseen=measured), chances
    )


def learn_likeness(
    material: Material, learned: Learned, chances: "Floats", embed: "Embed | None"
) -> list[float]:
    """The factors of a ``Likeness``, learned by judging each specialist as if only its plaque were known."""
    vectors = learned.standardise(material.vectors)
    compared: list[Likeness] = []
    own: list[float] = []
    # A specialist without requests in the bank is not learned.
    for spec in (spec for spec in default_specs() if spec.name in material.agents):
        model, column = PlaqueModel(spec, learned.lexicon, embed), material.agents.index(spec.name)
        others = numpy.delete(chances, column, axis=1)
        surest = others.max(axis=1) / others.sum(axis=1)
        for index in range(0, len(material.bank), 4):
            example = material.bank[index]
            vector = None if embed is None else vectors[index]
            compared.append(model.compare(example.request, vector, float(surest[index])))
            own.append(float(example.agent == spec.name))
    owned = numpy.array(own)
    head = fit(Dense(numpy.array(compared)), len(compared[0]), numpy.stack([1 - owned, owned], axis=1), 1e-3)
    return [float(head.bias[1] - head.bias[0]), *(head.weights[:, 1] - head.weights[:, 0]).tolist()]


def main() -> None:
    with threadpool_limits(1):
        bank = read_bank()
        encoder = open_request_encoder()
        agents = sorted({example.agent for example in bank})
        targets = numpy.array([[float(example.agent == agent) for agent in agents] for example in bank])
        print(f"{len(bank):,} requests", flush=True)
        material = Material(bank, agents, targets, encoder.embed([example.request for example in bank]))
        unseen = predict_unseen(material)
        learned = learn(material)

        def embed(texts: Sequence[str]) -> "Vectors":
            return learned.standardise(encoder.embed(texts))

        light, full = join([unseen.words], targets), join(unseen, targets)
        light.tuning["guest"] = learn_likeness(material, learned, light.chances, None)
        full.tuning["guest"] = learn_likeness(material, learned, full.chances, embed)
    variants: dict[Variant, Tuning] = {"words": light.tuning, "words+encoder": full.tuning}
    tables = pack(learned) | {"bank": pack_bank(bank)}
    write_weights(Weights({"bank": hash_bank(bank), "agents": agents, "variants": variants}, tables))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


def pack(learned: Learned) -> dict[str, bytes]:
    """The tables of the weights file; the two large ones as bytes, with a unit for each column."""
    words, word_units = _in_bytes(learned.words.weights)
    inner, inner_units = _in_bytes(learned.network.inner.weights)
    floats: dict[str, Floats] = {
        "word_rarity": numpy.array(learned.lexicon.rarity),
        "word_bias": learned.words.bias,
        "word_units": word_units,
        "centre": learned.centre,
        "spread": learned.spread,
        "inner_units": inner_units,
        "inner_bias": learned.network.inner.bias,
        "outer_weights": learned.network.outer.weights,
        "outer_bias": learned.network.outer.bias,
    }
    return {
        "vocabulary": pack_lines(list(learned.lexicon.vocabulary)),
        "word_weights": words,
        "inner_weights": inner,
        **{name: pack_numbers(table.ravel().tolist(), "f") for name, table in floats.items()},
    }


def _in_bytes(table: "Floats") -> "tuple[bytes, Floats]":
    units = abs(table).max(axis=0) / 127
    return pack_numbers(numpy.rint(table / units).astype(int).ravel().tolist(), "b"), units


if __name__ == "__main__":
    main()
