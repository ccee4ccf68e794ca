"""The built page over HTTP: its files, how they are cached and zipped, and nothing beside them."""

import gzip
from pathlib import Path

import pytest

from tests.server.served import serving
from tests.server.wire import ask, head

SCRIPT = "console.log('Sestet');\n" * 50


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page such as ``make web`` builds, with a secret beside it."""
    built = tmp_path / "page"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text('<!doctype html><script src="/assets/index-1a2b.js"></script>')
    (built / "theme.js").write_text("document")
    (built / "favicon.svg").write_text("<svg/>")
    (built / "assets" / "index-1a2b.js").write_text(SCRIPT)
    (built / "assets" / "index-1a2b.js.map").write_text("{}")
    (tmp_path / "secret.js").write_text("secret")
    (built / "assets" / "link.js").symlink_to(tmp_path / "secret.js")
    monkeypatch.setattr("sestet.server.built_page.DIRECTORY", built)
    return built


async def test_a_browser_without_a_token_gets_the_files_of_the_page(page: Path, tmp_path: Path) -> None:
    async with serving(tmp_path / "home") as served, served.client("") as stranger:
        answers = {
            path: await stranger.get(path)
            for path in ("/", "/theme.js", "/favicon.svg", "/assets/index-1a2b.js")
        }

    assert {each.status_code for each in answers.values()} == {200}
    assert answers["/"].text == (page / "index.html").read_text()
    assert answers["/assets/index-1a2b.js"].text == SCRIPT
    types = [each.headers["content-type"].partition(";")[0] for each in answers.values()]
    assert types == ["text/html", "text/javascript", "image/svg+xml", "text/javascript"]


async def test_only_files_whose_name_has_a_hash_are_cached_for_ever(page: Path, tmp_path: Path) -> None:
    async with serving(tmp_path / "home") as served, served.client("") as stranger:
        index = await stranger.get("/")
        asset = await stranger.get("/assets/index-1a2b.js")

    assert index.headers["cache-control"] == "no-cache"
    assert "immutable" in asset.headers["cache-control"]


async def test_a_large_file_is_zipped_for_a_client_that_can_read_it(page: Path, tmp_path: Path) -> None:
    line, host = "GET /assets/index-1a2b.js HTTP/1.1", {}
    async with serving(tmp_path / "home") as served:
        host = {"host": served.url.removeprefix("http://")}
        zipped = await ask(served.url, head(line, accept_encoding="gzip, br", **host))
        plain = await ask(served.url, head(line, **host))

    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(zipped.body) == plain.body == SCRIPT.encode()
    assert zipped.headers["vary"] == plain.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.js",
        "/assets/%2e%2e/%2e%2e/secret.js",
        "/assets/..%2f..%2fsecret.js",
        "/assets/link.js",
        "/assets/index-1a2b.js.map",
        "/assets/",
        "/index.html/",
        "//theme.js",
        "/theme.js%00",
        "/assets\\index-1a2b.js",
    ],
)
async def test_no_other_path_reaches_a_file(page: Path, tmp_path: Path, path: str) -> None:
    async with serving(tmp_path / "home") as served:
        host = served.url.removeprefix("http://")
        known = head(f"GET {path} HTTP/1.1", host=host, authorization=f"Bearer {served.token}")
        stranger = head(f"GET {path} HTTP/1.1", host=host)
        answers = [await ask(served.url, known), await ask(served.url, stranger)]

    assert [each.status for each in answers] == [404, 401]
    assert all(b"secret" not in each.body for each in answers)


async def test_the_page_loads_nothing_from_elsewhere_and_no_inline_script(page: Path, tmp_path: Path) -> None:
    async with serving(tmp_path / "home") as served, served.client("") as stranger:
        policy = (await stranger.get("/")).headers["content-security-policy"]

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'self'"
    assert {rules[name] for name in ("object-src", "base-uri", "frame-ancestors")} == {"'none'"}
    assert rules["img-src"] == "'self' blob:"
    assert "unsafe" not in policy


async def test_a_server_whose_page_was_not_built_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.server.built_page.DIRECTORY", tmp_path / "nothing")
    async with serving(tmp_path) as served, served.client("") as stranger:
        answer = await stranger.get("/")

    assert answer.status_code == 200
    assert "make web" in answer.text
