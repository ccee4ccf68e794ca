"""SKILL.md files of the convention are read as YAML reads them; anything else is named."""

import pytest

from sestet.services.skills.skill import Skill, SkillError, parse_skill, program_of
from tests.services.skills.world import manual

FROM_THE_WILD = """---
name: pdf-forms
description: >-
  Fills in PDF forms: reads the fields,
  writes the values.
license: 'Apache-2.0'
compatibility: |
  Needs python3 and pypdf
metadata:
  author: Jane "J" Doe
  version: 1.0
  tags: [pdf, forms]
  sestet-entry: scripts/fill.py
allowed-tools: Bash(pdftk:*) Read
unknown-key: {is: ignored}
---

# PDF forms

Run `scripts/fill.py`.
"""


def parse(text: str, **files: str) -> Skill:
    return parse_skill({"SKILL.md": text.encode(), **{path: code.encode() for path, code in files.items()}})


def test_an_ordinary_skill_of_the_convention_is_read_whole() -> None:
    skill = parse(FROM_THE_WILD, **{"scripts/fill.py": "print()"})

    assert skill.name == "pdf-forms"
    assert skill.description == "Fills in PDF forms: reads the fields, writes the values."
    assert (skill.license, skill.compatibility) == ("Apache-2.0", "Needs python3 and pypdf")
    assert (skill.entry, skill.allowed_tools) == ("scripts/fill.py", "Bash(pdftk:*) Read")
    assert skill.instructions == "# PDF forms\n\nRun `scripts/fill.py`.\n"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("'it''s fine'", "it's fine"),
        ('"tab\\tand \\u00e9"', "tab\tand é"),
        ("a plain one", "a plain one"),
        ("|\n  two\n  lines", "two\nlines"),
        ("one that goes\n  on", "one that goes on"),
    ],
)
def test_every_form_of_a_text_is_read_as_yaml_reads_it(written: str, text: str) -> None:
    assert parse(manual("a", description=written)).description == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no front matter", "line 1: the document must begin with front matter"),
        (
            manual("a", description="one: two"),
            "line 3: mapping values are not allowed here; a text",
        ),
        (manual("a", description="[1, 2]"), "'description' must be a text and is required"),
        (manual("a", description="'  '"), "'description' must be a text and is required"),
        (manual("12"), "'name' must be a text and is required"),
        (manual("a", "name: b"), "is not valid YAML: line 4: found duplicate key"),
        (manual("../x"), "'../x' is not the name of a skill"),
        (manual("Word-Count"), "'Word-Count' is not the name of a skill"),
        (manual("word\u200bcount"), "is not the name of a skill"),
        (manual("wörter"), "is not the name of a skill"),
        (manual("a" * 65), "is not the name of a skill"),
        (manual("a", description="x" * 1_025), "has more than 1,024 characters"),
        (manual("a", "metadata: text"), "'metadata' must be a map"),
        (manual("a", "metadata: {sestet-entry: ../run.py}"), "must be a path below scripts/"),
        (manual("a", "metadata: {sestet-entry: scripts/../../x}"), "leads out of the skill's folder"),
        (
            manual("a", "metadata: {sestet-entry: scripts/none.py}"),
            "names 'scripts/none.py', which does not exist",
        ),
        (manual("a", "x: !!python/object/apply:os.system ['true']"), "is not valid YAML"),
        (manual("a", "x: " + "[" * 5_000), "nested too deeply"),
        ("---\nname: a\ndescription: \x1b[2Jb\n---\n", "line 3: has the control character U+001B"),
        ("---\n- a\n- b\n---\n", "the front matter must be lines of 'key: value'"),
        (manual("a", body="x" * 100_000), "SKILL.md is larger than 100 KB"),
    ],
)
def test_a_manual_that_cannot_be_used_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(SkillError) as refused:
        parse(text)
    assert why in str(refused.value)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(SkillError, match="is not text in UTF-8"):
        parse_skill({"SKILL.md": b"---\nname: \xff\n---\n"})


def test_aliases_that_unfold_to_gigabytes_are_refused() -> None:
    bomb = "\n".join(f"l{n + 1}: &l{n + 1} [{', '.join([f'*l{n}'] * 9)}]" for n in range(9))
    with pytest.raises(SkillError, match="is too large"):
        parse(manual("a", "l0: &l0 lol", bomb))


def test_the_digest_covers_every_path_and_every_byte() -> None:
    text = manual("a")
    made = [parse(text), parse(text, x="1"), parse(text, x="2"), parse(text, y="1")]
    moved = parse(text, x="1y", z="")
    assert len({skill.digest for skill in (*made, moved)}) == 5
    assert parse(text, b="2", a="1").digest == parse(text, a="1", b="2").digest


def test_a_script_says_what_runs_it() -> None:
    files = {"scripts/a.py": "print()", "scripts/b": "#!/bin/sh\n", "scripts/c": "?", "d.py": "print()"}
    skill = parse(manual("a"), **files)

    assert program_of(skill, "scripts/a.py") == ("/usr/bin/env", "python3")
    assert program_of(skill, "scripts/b") == ()
    for script, why in {"scripts/c": "has no first line", "d.py": "has no script 'd.py'"}.items():
        with pytest.raises(SkillError, match=why):
            program_of(skill, script)
