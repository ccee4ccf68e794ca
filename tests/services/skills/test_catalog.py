"""Skills are found in three places, count by precedence, and are inert until their bytes are trusted."""

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from sestet.core.label import Label
from sestet.core.record import replace
from sestet.services.skills import reading
from sestet.services.skills.catalog import Found
from sestet.services.skills.reading import MOST_SKILLS
from sestet.services.skills.service import Skills
from sestet.services.skills.skill import MOST_BYTES, MOST_FILES, SkillError
from sestet.services.skills.trusted import STORE
from tests.services.skills.world import World, manual


def states(world: World) -> dict[str, str]:
    return {found.name: found.state for found in world.skills.catalog.all()}


def only(world: World) -> Found:
    (found,) = world.skills.catalog.all()
    return found


def test_skills_of_all_places_are_found_and_none_is_trusted_at_first(world: World) -> None:
    for place in world.places:
        world.write(f"from-{place}", place=place)

    found = world.skills.catalog.all()

    assert [(each.name, each.place.kind, each.state) for each in found] == [
        ("from-sestet", "sestet", "untrusted"),
        ("from-home", "home", "untrusted"),
        ("from-workspace", "workspace", "untrusted"),
    ]
    with pytest.raises(SkillError, match=r"is not trusted yet.*sestet skills trust from-home"):
        world.skills.catalog.trusted("from-home")


def test_a_trusted_skill_stays_trusted_after_a_restart_and_for_the_same_bytes_elsewhere(
    world: World,
) -> None:
    world.write("a", {"references/x.md": "x"})
    world.trust("a")
    assert states(world) == {"a": "trusted"}

    os.rename(world.places["workspace"], world.work / "elsewhere")
    world.write("a", {"references/x.md": "x"}, place="home")
    assert only(world).is_usable


@pytest.mark.parametrize("change", ["changed", "added", "removed", "renamed", "manual"])
def test_any_change_of_a_file_loses_the_trust(world: World, change: str) -> None:
    folder = world.write("a", {"scripts/run.sh": "#!/bin/sh\n", "assets/x": "x"})
    world.trust("a")
    match change:
        case "changed":
            (folder / "scripts/run.sh").write_text("#!/bin/sh\ntrue\n")
        case "added":
            (folder / "assets/.hidden").write_text("")
        case "removed":
            (folder / "assets/x").unlink()
        case "renamed":
            (folder / "assets/x").rename(folder / "assets/y")
        case _:
            (folder / "SKILL.md").write_text(manual("a", body="Other."))

    assert only(world).state == "changed"
    with pytest.raises(SkillError, match="changed after the owner trusted it"):
        world.skills.catalog.trusted("a")


def test_a_skill_of_a_workspace_never_takes_the_place_of_the_persons_own(world: World) -> None:
    for place in ("workspace", "home"):
        world.write("deploy", place=place, text=manual("deploy", body=f"From {place}."))
    for found in world.skills.catalog.all():
        world.skills.trust(found)

    found = {each.place.kind: each for each in world.skills.catalog.all()}

    assert found["workspace"].shadowed_by == str(world.places["home"] / "deploy")
    assert (found["workspace"].is_usable, found["home"].is_usable) == (False, True)
    assert world.skills.catalog.trusted("deploy")[1].instructions == "From home.\n"


def test_an_untrusted_or_broken_skill_that_counts_is_not_passed_over_for_another_one(
    world: World,
) -> None:
    world.write("deploy")
    world.trust("deploy")
    own = world.write("deploy", place="home", text=manual("deploy", body="Other."))
    with pytest.raises(SkillError, match="is not trusted yet"):
        world.skills.catalog.trusted("deploy")
    (own / "SKILL.md").write_text("broken")
    with pytest.raises(SkillError, match=r"cannot be used: SKILL\.md: line 1"):
        world.skills.catalog.trusted("deploy")


def test_bad_folders_are_named_and_the_others_go_on(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("KEY")
    place = world.places["workspace"]
    world.write("good")
    world.write("other-name", text=manual("another"))
    (place / "empty").mkdir()
    os.symlink(world.write("real", place="home"), place / "linked")
    os.symlink(outside, world.write("file-link") / "references.md")
    os.mkfifo(world.write("pipe") / "x")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(os.path.relpath(world.write("door") / "s"))
    with (world.write("huge") / "x").open("wb") as file:
        file.truncate(1_000_000_000)
    (world.write("open") / "SKILL.md").chmod(0o666)
    world.write("deep", {"a/b/c/d/e/f": ""})
    world.write("many", {f"assets/{number}": "" for number in range(MOST_FILES)})
    (world.write("unseen") / "x\u202ey").touch()
    (world.write("blank") / "x\u3164").touch()
    Path(os.fsdecode(bytes(world.write("bytes")) + b"/\xff")).touch()
    world.write("Upper")
    os.mkdir(place / "zero\u200bwidth")

    problems = {
        each.name: each.problem for each in world.skills.catalog.all() if each.place.kind == "workspace"
    }

    expected = {
        "good": "",
        "other-name": "its name is 'another', but its folder is 'other-name'",
        "empty": "there is no SKILL.md",
        "linked": "'linked' is a link; put the folder itself there, or import it",
        "file-link": "'references.md' is a link; put the file itself there",
        "pipe": "'x' is a pipe, not a file",
        "door": "'s' is a socket, not a file",
        "huge": "'x' is too large",
        "open": "'SKILL.md' can be written by everybody",
        "deep": "folders deep",
        "many": f"more than {MOST_FILES} files",
        "unseen": "is not a usable file name",
        "blank": "is not a usable file name",
        "bytes": "is not a usable file name",
        "Upper": "is not the name of a skill",
        "zero\u200bwidth": "is not the name of a skill",
    }
    assert problems.keys() == expected.keys()
    for name, why in expected.items():
        assert why in problems[name], name
    assert "KEY" not in str(problems)


@pytest.mark.parametrize("linked", [".agents", ".agents/skills"])
def test_a_workspace_whose_folder_of_skills_is_a_link_has_none(world: World, linked: str) -> None:
    (world.home / "real" / "skills").mkdir(parents=True)
    world.write("a", place="home")
    if linked == ".agents":
        os.symlink(world.home / ".agents", world.work / ".agents")
    else:
        (world.work / ".agents").mkdir()
        os.symlink(world.home / ".agents" / "skills", world.work / ".agents" / "skills")

    assert [(each.name, each.place.kind) for each in world.skills.catalog.all()] == [
        ("a", "home"),
        ("", "workspace"),
    ]
    assert "is a link" in world.skills.catalog.all()[1].problem


def test_the_persons_own_folder_of_skills_may_be_a_link(world: World) -> None:
    world.write("a", place="home")
    os.rename(world.home / ".agents", world.home / "dotfiles")
    os.symlink(world.home / "dotfiles", world.home / ".agents")
    assert states(world) == {"a": "untrusted"}


def test_a_place_with_too_many_folders_is_refused(world: World) -> None:
    for number in range(MOST_SKILLS + 1):
        (world.places["workspace"] / f"s{number}").mkdir(parents=True)
    assert only(world).problem == f"it has more than {MOST_SKILLS} folders"


def test_all_files_together_have_a_limit(world: World) -> None:
    world.write("a", {"x": "x" * (MOST_BYTES // 2), "y": "y" * (MOST_BYTES // 2)})
    assert "is too large" in only(world).problem


def test_a_list_of_trusted_skills_that_came_with_the_workspace_is_not_believed(world: World) -> None:
    world.write("a")
    world.trust("a")
    brought = world.work / "data"
    os.rename(world.data, brought)

    skills = Skills(brought, [world.work])
    (found,) = [each for each in skills.catalog.all() if each.name == "a"]

    assert (found.state, "lies in the workspace itself" in found.problem) == ("untrusted", True)
    with pytest.raises(SkillError, match="set SESTET_HOME to a directory outside"):
        skills.catalog.trusted("a")
    with pytest.raises(SkillError, match="lies in the workspace itself"):
        skills.trust(replace(found, problem=""))
    assert skills.catalog.trust.read() == {}


@pytest.mark.parametrize("damage", ["{", '{"version": 1, "skills": {"x": 1}}', "[]", "open"])
def test_a_list_that_is_damaged_or_open_to_others_trusts_nothing(world: World, damage: str) -> None:
    world.write("a")
    world.trust("a")
    file = world.data / STORE
    if damage == "open":
        file.chmod(0o666)
    else:
        file.write_text(damage)
    assert states(world) == {"a": "untrusted"}


def test_git_and_caches_are_no_part_of_a_skill(world: World) -> None:
    folder = world.write("a")
    world.trust("a")
    for path in (".git/config", "__pycache__/x.pyc", "scripts/__pycache__/y.pyc"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")
    found = only(world)
    assert found.state == "trusted"
    assert found.skill is not None
    assert list(found.skill.files) == ["SKILL.md"]


def test_trust_is_taken_back_and_keeps_the_label(world: World) -> None:
    label = Label(untrusted=True, sources=("a page",))
    made = world.skills.compose("a", "d", "Do it.")
    world.skills.make(made, label, trusted=False)
    world.trust("a")
    assert (only(world).state, only(world).label.untrusted) == ("trusted", True)

    assert world.skills.revoke(only(world))
    assert (only(world).state, only(world).made_with) == ("untrusted", label)
    assert not world.skills.revoke(only(world))


def test_the_text_of_a_skill_is_untrusted_until_the_owner_trusts_it(world: World) -> None:
    world.write("a")
    assert (only(world).label.untrusted, only(world).label.private) == (True, True)
    world.trust("a")
    assert (only(world).label.untrusted, only(world).label.private) == (False, True)


def test_a_wrong_name_is_answered_with_the_nearest_one(world: World) -> None:
    world.write("word-count")
    with pytest.raises(SkillError, match="there is no skill 'word-cout'; did you mean 'word-count'"):
        world.skills.catalog.find("word-cout")
    for name in ("../x", "a/b", "", ".", "a\0b", "a\u200bb"):
        with pytest.raises(SkillError, match="is not the name of a skill"):
            world.skills.catalog.find(name)


def test_the_list_names_what_was_trusted(world: World) -> None:
    folder = world.write("a")
    world.trust("a")
    ((digest, entry),) = json.loads((world.data / STORE).read_text())["skills"].items()
    found = only(world)
    assert found.skill is not None
    assert (digest, entry["where"], entry["trusted"]) == (found.skill.digest, str(folder), True)
    assert (world.data / STORE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("swapped", ["a", "references", "x.md"])
def test_a_link_that_is_swapped_in_after_the_look_leads_nowhere(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    outside = tmp_path / "outside"
    for name in ("SKILL.md", "x.md", "references/x.md"):
        (outside / name).parent.mkdir(exist_ok=True)
        (outside / name).write_text(manual("a", body="KEY"))
    folder = world.write("a", {"references/x.md": "inside"})
    place, target = {
        "a": (folder, outside),
        "references": (folder / "references", outside / "references"),
        "x.md": (folder / "references" / "x.md", outside / "x.md"),
    }[swapped]
    really_open = os.open

    def swap_and_open(path: str, *flags: int, **options: Any) -> int:
        if path == swapped and not place.is_symlink():
            os.rename(place, tmp_path / "before")
            os.symlink(target, place)
        return really_open(path, *flags, **options)

    monkeypatch.setattr(reading.os, "open", swap_and_open)
    found = only(world)

    assert place.is_symlink()
    assert "KEY" not in str(found.skill)
    assert found.problem
