"""The router: an owner for each request, and no false confidence."""

import string
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sestet.core.agent import AgentSpec
from sestet.models.router import DIRECT, Router, open_router
from tests.evals.samples import LEARNED

GARDENER = AgentSpec(
    "gardener",
    description="Looks after the plants of the house",
    keywords=("water the plants", "compost", "seedlings", "prune the roses"),
    examples=(
        "water the tomatoes on the balcony",
        "when do I sow the basil",
        "which plants need more light",
        "repot the fern in the hall",
        "prune the roses behind the house",
    ),
)

LIGHT = open_router(LEARNED, with_encoder=False)


@pytest.fixture
def light() -> Router:
    return LIGHT


@pytest.fixture(scope="module")
def full() -> Router:
    return open_router(LEARNED)


@pytest.mark.parametrize(
    ("request_text", "agent"),
    [
        ("show me the last ten lines of access.log", "operator"),
        ("go to https://example.org/news and read me the headlines", "navigator"),
        ("transfer 12 usdc to 0x52908400098527886E0F7030069857D2E4169EE7", "vault"),
        ("what does our knowledge base say about parental leave", "librarian"),
        ("break the launch of the newsletter down into steps", "planner"),
        ("remember that I am allergic to peanuts", "chronicler"),
        ("hello, how are you today?", DIRECT),
    ],
)
@pytest.mark.parametrize("variant", ["light", "full"])
def test_a_plain_request_goes_to_its_owner(
    variant: str, request_text: str, agent: str, request: pytest.FixtureRequest
) -> None:
    router: Router = request.getfixturevalue(variant)
    route = router.route(request_text)
    assert route.agent == agent
    assert route.confidence == max(route.scores.values())


def test_the_probabilities_of_all_agents_add_up(light: Router) -> None:
    scores = light.route("list the files here").scores
    assert set(scores) == {DIRECT, *(spec.name for spec in LEARNED)}
    assert sum(scores.values()) == pytest.approx(1)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_an_agent_that_is_not_in_the_tree_is_not_proposed() -> None:
    specs = [spec for spec in LEARNED if spec.name != "vault"]
    route = open_router(specs, with_encoder=False).route("encrypt this sentence with my key")
    assert "vault" not in route.scores
    assert sum(route.scores.values()) == pytest.approx(1)


def test_without_any_specialist_everything_is_answered_directly() -> None:
    route = open_router((), with_encoder=False).route("list the files here")
    assert route.agent == DIRECT


def test_a_sure_route_names_what_spoke_for_it(light: Router) -> None:
    route = light.route("transfer 12 usdc to 0x52908400098527886E0F7030069857D2E4169EE7")
    assert route.sure
    assert "<amount>" in {one.feature for one in route.evidence if one.weight > 0}


@pytest.mark.parametrize("variant", ["light", "full"])
def test_a_request_of_several_parts_is_never_sure(variant: str, request: pytest.FixtureRequest) -> None:
    router: Router = request.getfixturevalue(variant)
    text = "list the files in src, then send 5 usdc to alice"
    assert [part.agent for part in router.split(text)] == ["operator", "vault"]
    assert not router.route(text).sure


def test_one_request_is_one_part_as_it_stands(light: Router) -> None:
    (part,) = light.split("  copy a.txt and b.txt into backup/ ")
    assert part.text == "  copy a.txt and b.txt into backup/ "
    assert part.agent == "operator"


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "?", "🦆", "こんにちは、元気ですか", "\x00\x07\ud800\udfff", "x" * 200_000, "a " * 50_000],
)
@pytest.mark.parametrize("variant", ["light", "full"])
def test_whatever_is_asked_has_an_answer(variant: str, text: str, request: pytest.FixtureRequest) -> None:
    router: Router = request.getfixturevalue(variant)
    assert 0 < router.route(text).confidence <= 1
    assert router.split(text)


@pytest.mark.parametrize("text", ["", "asdkjh qwpoe", "zzz", "???", "42"])
@pytest.mark.parametrize("variant", ["light", "full"])
def test_no_specialist_is_surely_meant_by_nonsense(
    variant: str, text: str, request: pytest.FixtureRequest
) -> None:
    router: Router = request.getfixturevalue(variant)
    route = router.route(text)
    assert not route.sure or route.agent == DIRECT


@settings(max_examples=30, deadline=None)
@given(text=st.text(st.sampled_from(string.ascii_lowercase + " .,;:?!'\"/~-$0123456789\n"), max_size=80))
def test_any_text_can_be_explained(text: str) -> None:
    explanation = LIGHT.explain(text, most=1)
    assert explanation.parts
    assert len(explanation.nearest) <= 1


def test_courtesy_changes_nothing(light: Router) -> None:
    plain = light.route("read notes.txt").scores
    assert light.route("hey Sestet, please read notes.txt for me, thanks!").scores == plain


def test_an_explanation_says_what_each_word_adds_and_shows_the_nearest_examples(light: Router) -> None:
    text = "remember that my dog is called Rex"
    explanation = light.explain(text, most=3)
    assert explanation.route.agent == "chronicler"
    assert sorted(one.feature for one in explanation.evidence) == sorted(text.split())
    assert explanation.evidence[0].weight > 0
    assert len(explanation.nearest) == 3
    assert "chronicler" in {example.agent for example in explanation.nearest}


@pytest.mark.parametrize("with_encoder", [False, True], ids=["light", "full"])
def test_the_owners_own_specialist_gets_its_work(with_encoder: bool) -> None:
    router = open_router((*LEARNED, GARDENER), with_encoder)
    for text in ("please water the basil", "when should I sow tomatoes", "the roses need to be pruned"):
        assert router.route(text).agent == "gardener", text


@pytest.mark.parametrize("with_encoder", [False, True], ids=["light", "full"])
def test_the_owners_own_specialist_takes_nothing_from_the_others(with_encoder: bool) -> None:
    router = open_router((*LEARNED, GARDENER), with_encoder)
    for text, agent in (
        ("list the files in src", "operator"),
        ("hello", DIRECT),
        ("pay 5 usdc to bob", "vault"),
    ):
        assert router.route(text).agent == agent, text


def test_a_specialist_with_an_empty_plaque_is_never_proposed_surely() -> None:
    router = open_router((*LEARNED, AgentSpec("mystery")), with_encoder=False)
    route = router.route("do the usual thing")
    assert route.agent != "mystery" or not route.sure


def test_the_light_variant_routes_without_numpy_and_opening_reads_no_weights() -> None:
    script = """
import sys
from sestet.agents import default_specs
from sestet.models.router import open_router
router = open_router(default_specs(), with_encoder=False)
assert not {"array", "zlib"} & vars(router).keys() and "_weights" not in vars(router)
assert router.route("list the files here").agent == "operator"
print(*{"numpy", "tokenizers", "threadpoolctl"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_where_the_encoder_is_not_installed_the_light_variant_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sestet.encoder.sentence_encoder.PACKAGE", "no-such-package")
    router = open_router(LEARNED)
    assert router.variant == "words"
    assert "not installed" in router.missing
    assert router.route("list the files here").agent == "operator"


def test_weights_that_are_not_the_known_ones_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sestet.encoder.sentence_encoder._HASH", "0" * 64)
    router = open_router(LEARNED)
    assert router.variant == "words"
    assert "not the one" in router.missing
