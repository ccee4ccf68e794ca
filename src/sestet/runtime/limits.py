"""What one turn may use."""

from math import inf

from sestet.core.errors import DefinitionError
from sestet.core.event import DollarLimit
from sestet.core.record import Record, as_dict


class Limits(Record):
    """What one turn may use; None means no limit."""

    rounds: int = 5
    model_calls: int = 40
    tool_calls: int = 200
    seconds: float = 600.0
    #: For one delegation; shorter than ``seconds``, so that the orchestrator still has time to answer.
    delegation_seconds: float = 300.0
    tool_output: int = 16_000
    tokens: int | None = None
    dollars: float | None = None
    #: Of all turns and the background work of one day. The models are guarded, not the turn.
    dollars_per_day: float | None = None

    def __post_init__(self) -> None:
        for name, value in as_dict(self).items():
            # Nothing is greater than NaN: such a limit would hold nothing.
            if value is not None and not 0 <= value < inf:
                raise DefinitionError(f"the limit '{name}' must be a number from 0 on, not {value!r}")

    @property
    def of_dollars(self) -> tuple[DollarLimit, ...]:
        """The settings that limit dollars, as a person writes them."""
        per_turn: tuple[DollarLimit, ...] = () if self.dollars is None else ("limits.dollars",)
        return per_turn if self.dollars_per_day is None else (*per_turn, "limits.dollarsPerDay")
