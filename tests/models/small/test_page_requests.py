"""Requests for a download or a sign-in, in many words."""

import pytest

from sestet.models.small.page_requests import Download, SignIn, read_page_request

URL = "http://127.0.0.1:8016/"


@pytest.mark.parametrize(
    ("text", "target", "then"),
    [
        ("open {url} and download the annual report and summarise it", "annual report", "summarise it"),
        ("open {url} and download Prices", "Prices", ""),
        ("download the price list from {url} and tell me the costs", "price list", "tell me the costs"),
        ("Could you please go to {url}, download the file a.csv, and then read it?", "a.csv", "read it"),
        ("download {url} and sum it up", "", "sum it up"),
        ("open {url}, then download it", "", ""),
        ("on {url} download “House rules”, then explain them", "House rules", "explain them"),
        ("visit {url}. Download the terms and rules. What do they say?",
         "terms and rules", "What do they say"),
        ("save the file prices.csv from {url}", "prices.csv", ""),
        ("I'd like you to download Prices from the page {url} and give me a summary",
         "Prices", "give me a summary"),
    ],
)  # fmt: skip
def test_a_download_names_its_page_its_link_and_what_to_tell(text: str, target: str, then: str) -> None:
    assert read_page_request(text.format(url=URL)) == Download(URL, target, then)


@pytest.mark.parametrize(
    ("text", "user", "secret", "then"),
    [
        ("sign in at {url} as ada with the password vault:garden and tell me all",
         "ada", "garden", "tell me all"),
        ("log in to {url} with the user name ada and the secret garden", "ada", "garden", ""),
        ("log me in at {url} with user ada and the password garden from the vault", "ada", "garden", ""),
        ("open {url} and sign in as ada with vault:garden. What is my plot?",
         "ada", "garden", "What is my plot"),
        ("sign in as ada@example.com at {url} with vault:garden", "ada@example.com", "garden", ""),
        ("please log into {url} using my secret garden", "", "garden", ""),
        ("sign in at {url} as ada", "ada", "", ""),
        ("sign in at {url} as ada with the password hunter2", "ada", "", ""),
    ],
)  # fmt: skip
def test_a_sign_in_names_its_page_its_user_and_its_secret(
    text: str, user: str, secret: str, then: str
) -> None:
    assert read_page_request(text.format(url=URL)) == SignIn(URL, user, secret, then)


@pytest.mark.parametrize(
    "text",
    [
        "what does {url} say?",
        "open {url} and fill in the form with my data",
        "open {url} and fill in Name",
        "open {url} and fill in Name with Ada and download the report",
        "open {url}",
        "open {url} and do not download anything",
        "open {url} and save the page as a pdf",
        "open {url} and get the price of shoes",
        "open {url}, fill in Name with Ada and download the form",
        "open {url} and download the report and mail it to bob",
        "sign in at {url} as ada with vault:garden and order two bags of compost",
        "sign hello with the key letters",
        "download the annual report",
        "log in as ada",
    ],
)
def test_other_work_is_left_to_the_model(text: str) -> None:
    assert read_page_request(text.format(url=URL)) is None
