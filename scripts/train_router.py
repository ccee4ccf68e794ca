"""Learns the router's weights from the bank in the rooms: ``make router``."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy

from sestet.models.router.bank import Example, hash_bank, read_bank
from sestet.models.router.encoder import open_encoder
from sestet.models.router.features import features
from sestet.models.router.learning import Dense, Head, fit, log_softmax, minimise, sparse
from sestet.models.router.weights import FILE, Tuning, Weights, pack_bank, write_weights
from sestet.models.router.words import weigh

if TYPE_CHECKING:
    from sestet.models.router.learning import Floats

ROOMS = Path(__file__).parents[1] / "src/sestet/agents"
# Chosen by cross-validation on the bank.
WORD_PENALTY = 1 / 30
ENCODER_PENALTY = 1 / 30
LETTERS = 0.4
FOLDS = 5
FALSE_CONFIDENCE = 0.003


class Lexicon(NamedTuple):
    vocabulary: dict[str, int]
    rarity: list[float]


def count_features(requests: Sequence[str]) -> Lexicon:
    """Every feature of the bank with what it counts; a part of a word must occur twice."""
    counts = Counter(name for request in requests for name in features(request))
    names = sorted(name for name, count in counts.items() if count > 1 or not name.startswith("~"))
    rarity = [
        (math.log((1 + len(requests)) / (1 + counts[name])) + 1) * (LETTERS if name.startswith("~") else 1)
        for name in names
    ]
    return Lexicon({name: row for row, name in enumerate(names)}, rarity)


class Predictions(NamedTuple):
    """Log-probabilities by either model for requests that it has not learned from."""

    words: "Floats"
    encoder: "Floats"


def learn_words(requests: Sequence[str], lexicon: Lexicon, targets: "Floats") -> Head:
    matrix = sparse([weigh(request, *lexicon) for request in requests], len(lexicon.vocabulary))
    return fit(matrix, len(lexicon.vocabulary), targets, WORD_PENALTY)


def apply_words(requests: Sequence[str], lexicon: Lexicon, head: Head) -> "Floats":
    matrix = sparse([weigh(request, *lexicon) for request in requests], len(lexicon.vocabulary))
    return log_softmax(matrix.times(head.weights) + head.bias)


def learn_encoder(vectors: "Floats", targets: "Floats") -> Head:
    return fit(Dense(vectors), vectors.shape[1], targets, ENCODER_PENALTY)


def predict_unseen(bank: Sequence[Example], vectors: "Floats", targets: "Floats") -> Predictions:
    """Each fold by models that learned from the others; a heading is never cut in two."""
    fold = fold_by_heading(bank)
    found = Predictions(numpy.zeros_like(targets), numpy.zeros_like(targets))
    for number in range(FOLDS):
        seen, unseen = fold != number, fold == number
        requests = [example.request for example, is_seen in zip(bank, seen, strict=True) if is_seen]
        asked = [example.request for example, is_seen in zip(bank, seen, strict=True) if not is_seen]
        lexicon = count_features(requests)
        found.words[unseen] = apply_words(asked, lexicon, learn_words(requests, lexicon, targets[seen]))
        head = learn_encoder(vectors[seen], targets[seen])
        found.encoder[unseen] = log_softmax(vectors[unseen] @ head.weights + head.bias)
    return found


def fold_by_heading(bank: Sequence[Example]) -> "numpy.ndarray[tuple[int], numpy.dtype[numpy.int64]]":
    return numpy.random.default_rng(0).permutation(len(bank)) % FOLDS


def tune(models: Sequence["Floats"], targets: "Floats") -> tuple[list[float], float]:
    """The exponents under which the joined probabilities are true, and the threshold."""

    def loss(exponents: "Floats") -> "tuple[float, Floats]":
        logs = log_softmax(sum(e * model for e, model in zip(exponents, models, strict=True)))
        errors = numpy.exp(logs) - targets
        slopes = numpy.array([float((errors * model).sum()) for model in models])
        return -float((targets * logs).sum()), slopes

    exponents = minimise(loss, numpy.full(len(models), 0.5), 100)
    chances = numpy.exp(log_softmax(sum(e * model for e, model in zip(exponents, models, strict=True))))
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == targets.argmax(axis=1)
    wrong = numpy.sort(confidence[~right])[::-1]
    allowed = int(FALSE_CONFIDENCE * len(right))
    threshold = float(wrong[allowed]) if allowed < len(wrong) else 0.5
    print(
        f"right {right.mean():.3f}, exponents {exponents}, threshold {threshold:.3f}, "
        f"coverage {(confidence > threshold).mean():.3f}"
    )
    return [float(exponent) for exponent in exponents], threshold + 1e-6


def main() -> None:
    bank = read_bank(ROOMS)
    requests = [example.request for example in bank]
    agents = sorted({example.agent for example in bank})
    targets = numpy.array([[float(example.agent == agent) for agent in agents] for example in bank])
    vectors = open_encoder().embed(requests).astype(numpy.float64)
    unseen = predict_unseen(bank, vectors, targets)
    (words,), sure_words = tune([unseen.words], targets)
    (both_words, both_encoder), sure_both = tune([unseen.words, unseen.encoder], targets)
    lexicon = count_features(requests)
    head, encoder_head = learn_words(requests, lexicon, targets), learn_encoder(vectors, targets)
    unit = float(abs(head.weights).max()) / 32_767
    write_weights(
        Weights(
            {
                "bank": hash_bank(bank),
                "agents": agents,
                "unit": unit,
                "word_bias": head.bias.tolist(),
                "encoder_bias": encoder_head.bias.tolist(),
                "variants": {
                    "words": Tuning(words=words, encoder=0.0, threshold=sure_words),
                    "words+encoder": Tuning(words=both_words, encoder=both_encoder, threshold=sure_both),
                },
            },
            lexicon.vocabulary,
            lexicon.rarity,
            numpy.rint(head.weights / unit).astype(int).ravel().tolist(),
            encoder_head.weights.ravel().tolist(),
            pack_bank(bank),
        )
    )
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes from {len(bank):,} requests")


if __name__ == "__main__":
    main()
