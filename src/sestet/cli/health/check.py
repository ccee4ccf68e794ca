"""What one check has found."""

from typing import Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal["ok", "warning", "problem"]


class Check(NamedTuple):
    name: str
    status: Status
    detail: str
    #: What to do about it.
    way_out: str = ""
