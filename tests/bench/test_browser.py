"""The parts of the browser bench that need no browser: its figures and its server."""

from http.client import HTTPConnection

from bench.browser.figures import Bar, PageFigures, page_bars, words_kept
from bench.browser.pages import PAGES
from bench.browser.server import SavedSites


def test_every_word_of_the_page_counts_as_kept_wherever_it_stands() -> None:
    assert words_kept("Tea and Milk", "", "# milk\n[e1 button Tea] and") == 1


def test_a_lost_word_and_a_lost_repetition_count() -> None:
    assert words_kept("tea tea milk cake", "", "tea milk") == 0.5


def test_options_of_lists_are_left_aside() -> None:
    assert words_kept("Country Austria Spain", "Austria Spain", "Country") == 1


def test_letters_of_scripts_without_spaces_count_one_by_one() -> None:
    assert words_kept("漢字仮名", "", "漢字") == 0.5


def test_words_that_the_browser_joined_are_found_apart() -> None:
    assert words_kept("SaveRemove all", "", "[e1 button Save] [e2 button Remove] all") == 1


def test_a_bar_is_missed_by_the_worst_page_alone() -> None:
    good = PageFigures("a.example", "", 100, 0.2, 0.01, 1.0, 0.1)
    bars = page_bars([good, good, good._replace(to_snapshot=0.6)])
    assert [bar.name for bar in bars if not bar.is_met] == ["tokens / Playwright's snapshot, worst"]
    assert not Bar("words", 0.9, 0.97, is_least=True).is_met


def test_pages_are_served_by_their_host_to_clients_and_through_a_proxy() -> None:
    sites = SavedSites({"shop.example": b"<p>Tea"})
    try:
        for path, host in (("/", "shop.example"), ("http://shop.example/", "other")):
            client = HTTPConnection("127.0.0.1", sites.port)
            client.request("GET", path, headers={"Host": host})
            assert client.getresponse().read() == b"<p>Tea"
            client.close()
        client = HTTPConnection("127.0.0.1", sites.port)
        client.request("GET", "/missing", headers={"Host": "shop.example"})
        assert client.getresponse().status == 404
        client.close()
    finally:
        sites.close()


def test_at_least_eleven_pages_have_hosts_of_their_own() -> None:
    assert len({page.served_as for page in PAGES}) == len(PAGES) >= 11
