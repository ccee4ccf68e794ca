"""What code makes of a Python script that a small model wrote."""

import ast
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.models.small.script_text import reads_arguments, why_broken, why_unusable, with_imports


def test_a_standard_module_that_is_used_without_an_import_is_imported() -> None:
    text = "for i in range(2):\n    print(i)\n    time.sleep(0)\nprint(os.path.basename('a/b'))\n"

    mended = with_imports(text)

    assert mended.startswith("import os\nimport time\nfor i")
    done = subprocess.run([sys.executable, "-c", mended], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n1\nb\n"


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)\n",
        "import os.path\nprint(os.path.sep)\n",
        "import datetime as time\nprint(time.date)\n",
        "from os import path as string\nprint(string.sep)\n",
        "time = Clock()\ntime.tick()\n",
        "def f(json):\n    return json.x\n",
        "for string in names:\n    print(string.upper())\n",
        "with open('x') as io:\n    io.read()\n",
        "try:\n    pass\nexcept OSError as signal:\n    print(signal.args)\n",
        "match x:\n    case {'a': token, **site}:\n        token.a, site.b\n",
        "def code():\n    pass\ncode.x = 1\n",
        "print(unknown.attribute)\n",
        "",
    ],
)
def test_a_name_that_has_a_meaning_or_is_no_module_is_left_alone(text: str) -> None:
    assert with_imports(text) == text


def test_imports_stand_below_what_must_come_first() -> None:
    text = '#!/usr/bin/env python3\n"""Sleeps."""\nfrom __future__ import annotations\ntime.sleep(0)\n'

    mended = with_imports(text)

    assert mended.splitlines()[3] == "import time"
    assert why_broken(mended) == ""


def test_an_import_stands_above_a_decorator() -> None:
    mended = with_imports("@functools.cache\ndef f():\n    return 1\nprint(f())\n")

    assert mended.startswith("import functools\n@functools.cache\n")


@pytest.mark.parametrize("text", ["if x\n", "print('a\n", "x = \0\n", "(" * 500])
def test_a_script_that_python_cannot_read_is_told(text: str) -> None:
    assert why_broken(text)
    assert why_unusable(text, has_arguments=True)
    assert not reads_arguments(text)


@pytest.mark.parametrize("text", ["x = input('name: ')\n", "import sys\nprint(sys.stdin.read())\n"])
def test_a_script_that_waits_for_somebody_to_type_is_told(text: str) -> None:
    assert why_unusable(text, has_arguments=True)


@pytest.mark.parametrize(
    "text", ["import sys\nprint(len(sys.argv))\n", "import argparse\nargparse.ArgumentParser()\n"]
)
def test_a_script_that_reads_arguments_needs_some(text: str) -> None:
    assert reads_arguments(text)
    assert why_unusable(text, has_arguments=False)
    assert why_unusable(text, has_arguments=True) == ""


@given(st.text(max_size=200))
def test_any_text_is_judged_and_a_readable_one_stays_readable(text: str) -> None:
    if not why_broken(text):
        ast.parse(with_imports(text))
