"""A search page in the browser as a web search."""

from pathlib import Path

import pytest

from sestet.config.browser_settings import BrowserSettings
from sestet.core.errors import ConfigError
from sestet.core.label import CLEAN
from sestet.core.tool import CallInfo
from sestet.services.browser.browser import Browser
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.page_search import PageSearch
from sestet.services.browser.program import has_chromium
from tests.services.browser.real_page import PageSite

CALL = CallInfo("s", "t", "librarian", "c", CLEAN)


def browser(tmp_path: Path, *allowed: str) -> Browser:
    return Browser(BrowserSettings(allow=allowed), CookieStore(tmp_path / "cookies", {}))


@pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed")
async def test_links_that_lead_elsewhere_are_results_also_behind_a_redirect(
    tmp_path: Path, site: PageSite
) -> None:
    site.pages["/s?q=green+tea"] = (
        "<a href=/about>About us</a>"
        "<h2><a href='https://tea.example/green'>Green tea</a></h2><p>How to brew it.</p>"
        "<h2><a href='/l?to=https%3A%2F%2Fleaf.example%2F'>Leaves</a></h2><p>All about leaves.</p>"
    )
    host = f"127.0.0.1:{site.port}"
    own = browser(tmp_path, host)
    search = PageSearch(own, f"http://{host}/s?q={{query}}")

    found = await search.find("green tea", 8, CALL)
    await own.close()

    assert [(each.title, each.url, each.excerpt) for each in found] == [
        ("Green tea", "https://tea.example/green", "How to brew it."),
        ("Leaves", "https://leaf.example/", "All about leaves."),
    ]


@pytest.mark.parametrize("page", ["https://search.example/", "search.example?q={query}", "file:///{query}"])
def test_a_page_without_a_place_for_the_words_is_refused(tmp_path: Path, page: str) -> None:
    with pytest.raises(ConfigError, match=r"search\.page"):
        PageSearch(browser(tmp_path), page)
