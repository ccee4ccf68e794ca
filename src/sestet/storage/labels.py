"""How a label is stored with a row: three columns, in this order."""

import json
from typing import NamedTuple, cast

from sestet.core.label import Label


class LabelColumns(NamedTuple):
    untrusted: int
    private: int
    #: A JSON array of texts.
    sources: str


def label_columns(label: Label) -> LabelColumns:
    return LabelColumns(label.untrusted, label.private, json.dumps(label.sources))


def label_from(untrusted: int, private: int, sources: str) -> Label:
    return Label(bool(untrusted), bool(private), tuple(cast("list[str]", json.loads(sources))))
