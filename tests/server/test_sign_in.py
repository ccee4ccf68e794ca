"""Signing in with a token: the cookie, wrong tokens, and pages of other sites."""

from pathlib import Path

import pytest

from tests.server.served import serving


async def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        before = await browser.get("/api/sessions")
        entered = await browser.post("/enter", json={"token": f" {served.token}\n"})
        after = await browser.get("/api/sessions")

    assert (before.status_code, entered.status_code, after.status_code) == (401, 204, 200)
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


async def test_a_browser_gets_no_more_than_its_token_may(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        await browser.post("/enter", json={"token": served.new_token("read")})
        refused = await browser.post("/api/sessions", json={"text": "hi"})

    assert refused.status_code == 403


@pytest.mark.parametrize("token", ["", "sestet_wrong", "x" * 500_000])
async def test_a_wrong_token_sets_no_cookie(tmp_path: Path, token: str) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        refused = await browser.post("/enter", json={"token": token})

    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthorized")
    assert "set-cookie" not in refused.headers


async def test_an_address_that_shows_many_wrong_tokens_has_to_wait(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        for number in range(10):
            wrong = await browser.post("/enter", json={"token": f"sestet_{number}"})
            assert wrong.status_code == 401
        late = await browser.post("/enter", json={"token": served.token})
        async with served.client() as known:
            others = await known.get("/api/sessions")

    assert (late.status_code, late.json()["error"]["code"]) == (429, "too_many_requests")
    assert 1 <= int(late.headers["retry-after"]) <= 60
    # A client that has a token already is not held up.
    assert others.status_code == 200


async def test_a_page_of_another_site_signs_nobody_in(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        body = {"token": served.token}
        foreign = await browser.post("/enter", json=body, headers={"Origin": "https://evil.example"})
        form = await browser.post("/enter", data=body)

    assert (foreign.status_code, form.status_code) == (403, 415)
    assert not browser.cookies
