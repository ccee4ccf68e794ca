"""How a label is stored with a row: three columns, in this order."""

import json
from functools import lru_cache
from typing import NamedTuple, cast

from sestet.core.label import Label


class LabelColumns(NamedTuple):
    untrusted: int
    private: int
    #: A JSON array of texts.
    sources: str


def label_columns(label: Label) -> LabelColumns:
    return LabelColumns(label.untrusted, label.private, json.dumps(label.sources))


# Rows that came from the same place have the same label, and many of them are read at once.
@lru_cache(maxsize=1024)
def label_from(untrusted: int, private: int, sources: str) -> Label:
    return Label(bool(untrusted), bool(private), tuple(cast("list[str]", json.loads(sources))))
