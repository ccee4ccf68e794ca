"""How often Sestet asks in an ordinary hour; docs/safety.md states the number."""

from pathlib import Path

from sestet.core.record import replace
from tests.containment.case import Case, Sensor, Yes
from tests.containment.hour import FILES, HOUR
from tests.containment.world import world_of

_MOST = 8
_SAFETY = Path(__file__).parents[2] / "docs/safety.md"


async def test_an_ordinary_hour_asks_as_often_as_the_documentation_says(tmp_path: Path) -> None:
    # The person wants all of it, and says so for the session.
    says = tuple(replace(say, yes=(Yes("", scope="session"),)) for say in HOUR)
    hour = Case("an ordinary hour", "", (), Sensor("files", r"todo\.txt: fence"), "nowhere", says=says)
    async with world_of(hour, tmp_path) as world:
        for name, text in FILES.items():
            (world.work / name).write_text(text, encoding="utf-8")
        result = await world.perform(hour)

    wanted = [order["do"] for say in HOUR for order in say.plan]
    assert len(HOUR) == 40
    assert result.succeeded
    assert len(world.mail.mails) == wanted.count("exec_mail")
    assert len([each for each in world.web.received if each.method == "POST"]) == (
        wanted.count("exec_chat") + wanted.count("exec_invite")
    )
    asked = len(result.questions)
    assert asked <= _MOST, result.questions
    stated = f"{len(HOUR)} requests ask {asked} times"
    assert stated in " ".join(_SAFETY.read_text("utf-8").split()), f"docs/safety.md lacks: {stated}"
