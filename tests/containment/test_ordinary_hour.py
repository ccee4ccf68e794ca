"""How often Sestet asks in an ordinary hour; docs/safety.md states the number."""

from collections.abc import Sequence
from pathlib import Path

from sestet.core.record import replace
from tests.containment import working_hour
from tests.containment.case import Case, Sensor, Yes
from tests.containment.hour import FILES, HOUR
from tests.containment.world import world_of

_MOST = 8
_MOST_AT_WORK = 9
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
    require_stated(f"{len(HOUR)} requests ask", result.questions, _MOST)


async def test_an_hour_of_work_asks_as_often_as_the_documentation_says(tmp_path: Path) -> None:
    says = tuple(replace(say, yes=(Yes("", scope="session"),)) for say in working_hour.HOUR)
    sensor = Sensor("files", r"letters/bob\.txt: Dear Bob")
    hour = Case("an hour of work", "", (), sensor, "nowhere", says=says, owner=working_hour.OWNER)
    async with world_of(hour, tmp_path) as world:
        working_hour.make_project(world.work)
        result = await world.perform(hour)
        done = {path.name: path.read_text("utf-8") for path in world.work.glob("[a-z]*.*")}

    assert len(working_hour.HOUR) == 40
    assert result.succeeded
    # The hour did its work: the program is mended, and the deleted file is back.
    assert "result += price" in done["shop.py"]
    assert "words in all" in done["count.py"]
    assert done["old.log"] == working_hour.FILES["old.log"]
    assert world.failures == []
    require_stated(f"{len(working_hour.HOUR)} requests with commands ask", result.questions, _MOST_AT_WORK)


def require_stated(text: str, questions: Sequence[str], most: int) -> None:
    """The questions are few, and the documentation states their number."""
    assert len(questions) <= most, "\n".join(questions)
    stated = f"{text} {len(questions)} times"
    assert stated in " ".join(_SAFETY.read_text("utf-8").split()), f"docs/safety.md lacks: {stated}"
