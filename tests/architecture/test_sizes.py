"""Files, functions and constructors stay small, without a list of exceptions."""

from pathlib import Path

import pytest

from .sizes import Oversize, find_oversizes

ROOT = Path(__file__).parents[2]
FILE_LINES = {"src": 400, "scripts": 400, "bench": 400, "tests": 600}


def find_in_folder(folder: Path, file_lines: int) -> list[Oversize]:
    return [
        oversize
        for path in sorted(folder.rglob("*.py"))
        for oversize in find_oversizes(str(path), path.read_text(encoding="utf-8"), file_lines)
    ]


def sizes_found(source: str, file_lines: int = 400) -> list[int]:
    return [oversize.size for oversize in find_oversizes("planted.py", source, file_lines)]


def function_of(lines: int, head: str = "def work() -> None:") -> str:
    return "\n".join([head, *["    pass"] * (lines - 1)]) + "\n"


def class_of(fields: int, head: str) -> str:
    return "\n".join([head, *[f"    field_{number}: int" for number in range(fields)]]) + "\n"


def class_with_init(parameters: str) -> str:
    return f"class Wide:\n    def __init__({parameters}): ...\n"


@pytest.mark.parametrize(("folder", "file_lines"), FILE_LINES.items())
def test_every_file_function_and_constructor_is_within_its_limit(folder: str, file_lines: int) -> None:
    oversizes = find_in_folder(ROOT / folder, file_lines)
    assert not oversizes, "\n".join(map(str, oversizes))


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_the_folders_that_are_measured_hold_code(folder: str) -> None:
    assert any((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("file_lines", sorted(set(FILE_LINES.values())))
def test_a_file_one_line_past_its_limit_is_found(tmp_path: Path, file_lines: int) -> None:
    (tmp_path / "just.py").write_text("x = 1\n" * file_lines, encoding="utf-8")
    (tmp_path / "past.py").write_text("x = 1\n" * (file_lines + 1), encoding="utf-8")
    (found,) = find_in_folder(tmp_path, file_lines)
    assert found == (f"{tmp_path / 'past.py'}: lines of the file", file_lines + 1, file_lines)


@pytest.mark.parametrize("head", ["def work() -> None:", "async def work() -> None:"])
def test_a_function_one_line_past_its_limit_is_found(head: str) -> None:
    assert sizes_found(function_of(60, head)) == []
    assert sizes_found(function_of(61, head)) == [61]


def test_a_method_inside_a_function_inside_a_class_is_measured() -> None:
    method = "".join(f"        {line}\n" for line in function_of(61).splitlines())
    assert 61 in sizes_found(f"class Outer:\n    def make(self) -> None:\n{method}")


@pytest.mark.parametrize(
    "parameters",
    [
        "self, a, b, c, d, e, f, g, h",
        "self, a, b, /, c, d, *, e, f, g, h",
        "self, a, b, c, d, e, f, *args, **kwargs",
    ],
)
def test_a_constructor_with_eight_parameters_is_found(parameters: str) -> None:
    assert sizes_found(class_with_init(parameters)) == [8]


def test_a_constructor_with_seven_parameters_is_allowed() -> None:
    assert sizes_found(class_with_init("self, a, b, c, d, *, e, f, g")) == []


@pytest.mark.parametrize(
    "decorator",
    ["@dataclass", "@dataclasses.dataclass", "@dataclass(slots=True)", "@dataclass(frozen=False)"],
)
def test_a_mutable_dataclass_with_eight_fields_is_found(decorator: str) -> None:
    assert sizes_found(class_of(7, f"{decorator}\nclass Wide:")) == []
    assert sizes_found(class_of(8, f"{decorator}\nclass Wide:")) == [8]


@pytest.mark.parametrize(
    "head",
    ["@dataclass(frozen=True, slots=True)\nclass Record:", "class Record(NamedTuple):", "class Plain:"],
)
def test_records_may_be_wide(head: str) -> None:
    assert sizes_found(class_of(20, head)) == []


def test_a_record_with_a_constructor_of_its_own_is_measured_like_any_other() -> None:
    record = "@dataclass(frozen=True)\n" + class_with_init("self, a, b, c, d, e, f, g, h")
    assert sizes_found(record) == [8]


def test_fields_that_the_constructor_does_not_take_are_not_counted() -> None:
    fields = [
        "    shared: ClassVar[int] = 1",
        "    also_shared: typing.ClassVar = 1",
        "    made_later: list[int] = field(init=False, default_factory=list)",
        "    _: KW_ONLY",
    ]
    wide = class_of(7, "@dataclass\nclass Wide:") + "\n".join(fields) + "\n"
    assert sizes_found(wide) == []
    assert sizes_found(wide + "    eighth: list[int] = field(default_factory=list)\n") == [8]
