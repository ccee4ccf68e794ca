"""Arguments that nearly fit are repaired, and no value is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.core.agent import normalise_name
from sestet.core.schema import JsonObject, JsonValue, find_problems, object_schema
from sestet.models.small.repair import WRAPPERS, repair_arguments

SCHEMA = object_schema(
    {
        "path": {"type": "string"},
        "start_line": {"type": "integer", "minimum": 1, "default": 1},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["fact", "past_note"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "inner": object_schema({"count": {"type": "integer"}}),
    },
    ["path"],
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"path": "a"}, {"path": "a"}),
        ({"Path": "a", "startLine": "5"}, {"path": "a", "start_line": 5}),
        ({"path": "a", "start_line": 5.0}, {"path": "a", "start_line": 5}),
        ({"path": "a", "ratio": "0.5"}, {"path": "a", "ratio": 0.5}),
        ({"path": "a", "deep": "True"}, {"path": "a", "deep": True}),
        ({"path": "a", "deep": 0}, {"path": "a", "deep": False}),
        ({"path": 17}, {"path": "17"}),
        ({"path": ["a"]}, {"path": "a"}),
        ({"path": "a", "kind": "Past Note"}, {"path": "a", "kind": "past_note"}),
        ({"path": "a", "tags": "shop"}, {"path": "a", "tags": ["shop"]}),
        ({"path": "a", "tags": '["x", "y"]'}, {"path": "a", "tags": ["x", "y"]}),
        ({"path": "a", "tags": [1, "y"]}, {"path": "a", "tags": ["1", "y"]}),
        ({"path": "a", "maybe": "3"}, {"path": "a", "maybe": 3}),
        ({"path": "a", "start_line": None}, {"path": "a"}),
        ({"path": "a", "inner": {"Count": "2"}}, {"path": "a", "inner": {"count": 2}}),
        ({"arguments": {"path": "a"}}, {"path": "a"}),
        ('{"path": "a"}', {"path": "a"}),
        ("{'path': 'a',}", {"path": "a"}),
        ("notes.txt", {"path": "notes.txt"}),
    ],
)
def test_what_was_meant_is_clear(written: object, meant: JsonObject) -> None:
    assert repair_arguments(SCHEMA, written) == meant


@pytest.mark.parametrize(
    "written",
    [
        {"path": "a", "start_line": "many"},
        {"path": "a", "start_line": 0},
        {"path": "a", "recursive": True},
        {"path": "a", "kind": "novel"},
        {"path": None},
        {"path": ["a", "b"]},
        {"file": "a"},
        {"path": "a", "PATH": "b"},
    ],
)
def test_what_is_not_clear_stays_wrong_so_that_the_model_is_told(written: JsonObject) -> None:
    repaired = repair_arguments(SCHEMA, written)

    assert repaired == written
    assert any(find_problems(SCHEMA, repaired))


@pytest.mark.parametrize("written", [None, [], 3.5, ["a", "b"], ""])
def test_what_can_mean_nothing_is_not_taken_for_arguments(written: object) -> None:
    two = object_schema({"a": {"type": "string"}, "b": {"type": "string"}}, ["a", "b"])

    assert repair_arguments(two, written) is None


JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["path", "Path", "start_line", "startLine", "deep", "kind", "tags", "maybe", "inner"])
WRITTEN = st.dictionaries(NAMES | st.sampled_from(WRAPPERS) | st.text(max_size=6), JSON, max_size=5)


@given(WRITTEN)
def test_no_argument_is_ever_made_up(written: dict[str, JsonValue]) -> None:
    repaired = repair_arguments(SCHEMA, written)

    assert repaired is not None
    inner = [value for value in written.values() if isinstance(value, dict)]
    names = {normalise_name(name) for mapping in (written, *inner) for name in mapping}
    assert {normalise_name(name) for name in repaired} <= names
    assert len(repaired) <= max(len(written), *map(len, inner), 0)


@given(JSON | st.text())
def test_nothing_that_is_written_raises(written: object) -> None:
    repair_arguments(SCHEMA, written)


@given(
    st.fixed_dictionaries({"path": st.text()}, optional={"start_line": st.integers(1), "deep": st.booleans()})
)
def test_what_is_right_stays_as_it_is(written: JsonObject) -> None:
    assert repair_arguments(SCHEMA, written) == written


FORM = object_schema(
    {
        "site": {"type": "string"},
        "fields": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    ["site", "fields"],
)


@pytest.mark.parametrize(
    "written",
    [
        {"site": "a.example", "fields": {"Name": "Ada"}},
        {"site": "a.example", "fields": '{"Name": "Ada"}'},
        {"site": "a.example", "fields": "Name", "value": "Ada"},
        {"site": "a.example", "fields": "Name: Ada"},
    ],
)
def test_a_map_that_was_written_apart_is_put_together(written: JsonObject) -> None:
    assert repair_arguments(FORM, written) == {"site": "a.example", "fields": {"Name": "Ada"}}


@pytest.mark.parametrize("fields", ["Name", "Name:", ["Name", "Ada"]])
def test_a_map_without_a_value_stays_wrong(fields: JsonValue) -> None:
    written = {"site": "a.example", "fields": fields}
    assert repair_arguments(FORM, written) == written


@pytest.mark.parametrize(
    "values", ["My Name, My City, Hello", ["My Name", "My City", "Hello"]], ids=["two texts", "text and list"]
)
@pytest.mark.parametrize("name", ["value", "values"])
def test_names_and_values_in_two_lists_belong_together_in_their_order(name: str, values: JsonValue) -> None:
    written = {"site": "a.example", "fields": "Name, City, Message", name: values}
    fields = {"Name": "My Name", "City": "My City", "Message": "Hello"}
    assert repair_arguments(FORM, written) == {"site": "a.example", "fields": fields}


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ("Name, City", "Ada"),
        ("Name, City", "Lindner, Ada, Graz"),
        ("Name, Name", "Ada, Eva"),
        ("Name, City", None),
    ],
)
def test_lists_that_do_not_fit_each_other_stay_wrong(fields: str, values: JsonValue) -> None:
    written = {"site": "a.example", "fields": fields, "values": values}
    assert repair_arguments(FORM, written) == written
