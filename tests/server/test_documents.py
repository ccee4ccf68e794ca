"""Documents that are uploaded: read in, found in the next turn, refused if they cannot be read."""

from pathlib import Path

import pytest

import sestet
from sestet.data import Data
from sestet.server import limits
from tests.server.served import serving
from tests.server.test_conversations import read_turn, send


async def test_an_uploaded_document_is_found_by_the_librarian_in_the_next_turn(tmp_path: Path) -> None:
    replies = (
        sestet.ToolCall(
            "transfer_to_agent", {"agent_name": "librarian", "request": "the tea", "reply": True}
        ),
        sestet.ToolCall("rag_retrieve", {"query": "tea"}),
        "Two minutes.",
    )
    settings: dict[str, object] = {"embedding": {"provider": "local"}}
    async with serving(tmp_path, *replies, settings=settings) as served, served.client() as client:
        content = b"# Tea\n\nGreen tea: two minutes.\n"
        added = await client.post("/api/documents", params={"name": "tea.md"}, content=content)
        listed = (await client.get("/api/documents")).json()["documents"]
        turn = (await send(served, "s1", "how long does the tea take?"))["turn"]
        seen = await read_turn(served, turn)

    assert (added.status_code, added.json()["state"]) == (201, "added"), added.text
    assert [row["path"] for row in listed] == [added.json()["path"]]
    found = [event for event in seen if event["kind"] == "tool_finished"]
    assert "Green tea: two minutes." in found[0]["text"]


async def test_the_same_name_replaces_the_document_and_an_unreadable_file_leaves_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        name = {"name": "tea.pdf"}
        refused = await client.post("/api/documents", params=name, content=b"\x00\x01 no PDF")
        text = {"name": "tea.md"}
        first = await client.post("/api/documents", params=text, content=b"green")
        second = await client.post("/api/documents", params=text, content=b"black")
        empty = await client.post("/api/documents", params=text, content=b"")
        found = (await client.get("/api/knowledge/search", params={"words": "black"})).json()["passages"]
        files = sorted(path.name for path in (tmp_path / "uploads").iterdir())
        kept = (tmp_path / "uploads" / "tea.md").read_bytes()

    assert (refused.status_code, empty.status_code) == (415, 400)
    assert "tea.pdf" in refused.json()["error"]["message"]
    assert (first.json()["state"], second.json()["state"]) == ("added", "changed")
    assert [passage["text"] for passage in found] == ["black"]
    assert (files, kept) == (["tea.md"], b"black")


async def test_the_progress_of_an_upload_is_streamed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        query = {"name": "tea.md", "progress": "true"}
        good = await client.post("/api/documents", params=query, content=b"green")
        bad = await client.post("/api/documents", params={**query, "name": "x.bin"}, content=b"\x00\x01")

    kinds = [line.removeprefix("event: ") for line in good.text.splitlines() if line.startswith("event: ")]
    assert kinds == ["progress", "progress", "done"]
    assert bad.text.splitlines()[-3].startswith("event: error")


@pytest.mark.parametrize("name", ["", "../tea.md", "a/b.md", ".hidden", "a\x00b.md", "x" * 201])
async def test_a_name_that_is_a_path_is_refused(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        refused = await client.post("/api/documents", params={"name": name}, content=b"green")

    assert refused.status_code == 400
    assert not (tmp_path / "uploads").exists()


async def test_a_document_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_LARGE_BODIES", {"/api/documents": 1_000})
    async with serving(tmp_path) as served, served.client() as client:
        refused = await client.post("/api/documents", params={"name": "a.md"}, content=b"x" * 1_001)

    assert refused.status_code == 413


async def test_only_the_owner_uploads(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for scope in ("read", "chat"):
            async with served.client(served.new_token(scope)) as client:
                refused = await client.post("/api/documents", params={"name": "a.md"}, content=b"green")
            assert refused.status_code == 403


async def test_a_browser_that_has_signed_in_uploads_and_reads_the_progress(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as served, served.client("") as browser:
        await browser.post("/enter", json={"token": served.token})
        own = {
            "Origin": served.url,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/octet-stream",
        }
        query = {"name": "tea.md", "progress": "true"}
        async with browser.stream(
            "POST", "/api/documents", params=query, content=b"green", headers=own
        ) as answer:
            kinds = [line async for line in answer.aiter_lines() if line.startswith("event: ")]

    assert answer.status_code == 201
    assert kinds[0] == "event: progress"
    assert kinds[-1] == "event: done"


async def test_a_forgotten_upload_leaves_no_copy_and_the_persons_own_file_stays(tmp_path: Path) -> None:
    own = tmp_path / "notes" / "own.md"
    own.parent.mkdir()
    own.write_text("oolong")
    async with serving(tmp_path / "home") as served, served.client() as client:
        added = await client.post("/api/documents", params={"name": "tea.md"}, content=b"green")
        Data(served.app.settings, served.app.database).library.ingest([own])
        listed = (await client.get("/api/documents")).json()["documents"]
        for each in listed:
            await client.delete("/api/documents", params={"path": each["path"]})
        left = (await client.get("/api/documents")).json()["documents"]

    assert {Path(each["path"]).name: each["uploaded"] for each in listed} == {"tea.md": True, "own.md": False}
    assert added.json()["path"] in {each["path"] for each in listed}
    assert (left, list((tmp_path / "home" / "uploads").iterdir()), own.exists()) == ([], [], True)
