"""Imports stand at the top of a module, with few exceptions."""

from pathlib import Path

from scripts.import_graph import measure

#: Each one guards a heavy vendor or the start of the program.
MOST_IN_FUNCTIONS = 40


def test_few_of_our_own_modules_are_imported_inside_a_function() -> None:
    assert measure().in_functions < MOST_IN_FUNCTIONS


def test_the_graph_of_a_planted_package_is_measured(tmp_path: Path) -> None:
    package = tmp_path / "sestet"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text("x = 1\n")
    (package / "middle.py").write_text("import json\nfrom sestet.low import x\n")
    (package / "high.py").write_text(
        "from sestet import middle\n\n\ndef late():\n    from sestet import low\n    return low.x, middle\n"
    )

    shape = measure(tmp_path)

    assert (shape.files, shape.lines, shape.edges) == (4, 9, 2)
    assert (shape.longest_chain, shape.in_functions) == (3, 1)
    assert shape.one_importer == 2
