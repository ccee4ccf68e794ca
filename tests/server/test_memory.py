"""Memory, knowledge and the graph over HTTP."""

from pathlib import Path

from sestet.core.label import CLEAN, Origin
from sestet.storage.graph import GraphStore
from sestet.storage.memories import MemoryStore
from sestet.storage.observations import ObservationStore, ReflectionSources
from tests.server.served import Served, serving


def remember(served: Served, text: str) -> str:
    return f"m{MemoryStore(served.app.database).add(text, Origin('', '', CLEAN)).id}"


async def test_a_memory_is_found_corrected_and_forgotten(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        name = remember(served, "The tea is green.")
        found = (await client.get("/api/memory/search", params={"words": "tea"})).json()["memories"]
        corrected = (
            await client.patch(f"/api/memory/items/{name}", json={"text": "The tea is black."})
        ).json()
        traced = (await client.get(f"/api/memory/items/{name}/trace")).json()
        forgotten = (await client.delete(f"/api/memory/items/{name}")).json()
        listed = (await client.get("/api/memory")).json()["memories"]
        gone = await client.get(f"/api/memory/items/{name}")

    assert [each["id"] for each in found] == [name]
    assert (corrected["text"], corrected["by"]) == ("The tea is black.", "you")
    assert (traced["memory"]["id"], traced["rests_on"]) == (name, [])
    assert forgotten["forgotten"] == [name]
    assert (listed, gone.status_code) == ([], 404)


async def test_what_would_go_and_stay_is_said_before_a_memory_is_forgotten(tmp_path: Path) -> None:
    async with serving(tmp_path, "Noted.") as served, served.client() as client:
        said = await client.post("/api/sessions/tea/messages", json={"text": "remember that my tea is green"})
        turn = said.json()["turn"]
        await client.get(f"/api/turns/{turn}/events")
        origin = Origin("tea", turn, CLEAN)
        MemoryStore(served.app.database).add("my tea is green", origin)
        observations = ObservationStore(served.app.database)
        observations.add_observation("They like green tea.", origin, "rules")
        observations.add_reflection("Tea matters to them.", origin, 1, ReflectionSources([1]))
        weighed = (await client.get("/api/memory/items/m1/forgetting")).json()
        listed = (await client.get("/api/memory")).json()["memories"]
        forgotten = (await client.delete("/api/memory/items/m1")).json()
        unknown = await client.get("/api/memory/items/m9/forgetting")

    assert {each["id"] for each in weighed["goes"]} == {"m1", "o1", "r1"} == set(forgotten["forgotten"])
    assert weighed["turns"] == [{"session": "tea", "turn": turn, "number": 1}]
    assert (len(listed), unknown.status_code) == (3, 404)


async def test_words_are_forgotten_wherever_they_were_said(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        remember(served, "The door code is blue elephant.")
        done = await client.post("/api/memory/forget", json={"words": "blue elephant"})
        listed = (await client.get("/api/memory")).json()["memories"]

    assert done.status_code == 200
    assert "elephant" not in str(listed)


async def test_a_token_that_only_reads_forgets_and_corrects_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(served.new_token("read")) as client:
        name = remember(served, "The tea is green.")
        refused = [
            await client.delete(f"/api/memory/items/{name}"),
            await client.patch(f"/api/memory/items/{name}", json={"text": "x"}),
            await client.put("/api/knowledge/entry", params={"title": "a"}, json={"content": "b"}),
        ]
        listed = (await client.get("/api/memory")).json()["memories"]

    assert [each.status_code for each in refused] == [403, 403, 403]
    assert [each["text"] for each in listed] == ["The tea is green."]


async def test_a_text_that_looks_like_a_secret_is_kept_only_if_the_client_insists(tmp_path: Path) -> None:
    secret = "the key is sk-ant-api03-" + "Ab1" * 30
    async with serving(tmp_path) as served, served.client() as client:
        name = remember(served, "The tea is green.")
        refused = await client.patch(f"/api/memory/items/{name}", json={"text": secret})
        kept = await client.patch(f"/api/memory/items/{name}", json={"text": secret, "anyway": True})

    assert (refused.status_code, kept.status_code) == (409, 200)


async def test_an_entry_is_saved_found_brought_back_and_forgotten(tmp_path: Path) -> None:
    title = {"title": "Office hours/2026"}
    async with serving(tmp_path) as served, served.client() as client:
        first = await client.put("/api/knowledge/entry", params=title, json={"content": "nine to five"})
        await client.put(
            "/api/knowledge/entry", params=title, json={"content": "ten to six", "tags": ["Work"]}
        )
        found = (await client.get("/api/knowledge/search", params={"words": "six"})).json()["passages"]
        back = (await client.post("/api/knowledge/entry/restore", params=title, json={})).json()
        history = (await client.get("/api/knowledge/entry/history", params=title)).json()
        tagged = (await client.get("/api/knowledge", params={"tag": "work"})).json()["entries"]
        forgotten = (await client.delete("/api/knowledge/entry", params=title)).json()
        gone = await client.get("/api/knowledge/entry", params=title)

    assert first.json()["version"] == 1
    assert "ten to six" in found[0]["text"]
    assert back["content"] == "nine to five"
    assert len(history["versions"]) >= 2
    assert tagged == []
    assert (forgotten["forgotten"], gone.status_code) == (["Office hours/2026"], 404)


async def test_a_fact_is_added_walked_to_and_removed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        predicates = (await client.get("/api/graph/predicates")).json()["predicates"]
        link = predicates[0]["name"]
        body = {"subject": "Ann", "predicate": link, "object": "Acme"}
        added = await client.post("/api/graph/facts", json=body)
        walk = (await client.get("/api/graph/walk", params={"node": "ann"})).json()
        chain = (await client.get("/api/graph/path", params={"start": "Acme", "end": "Ann"})).json()
        unknown = await client.get("/api/graph/walk", params={"node": "nobody"})
        removed = await client.delete(f"/api/graph/facts/{added.json()['id']}")
        left = (await client.get("/api/graph/facts")).json()["facts"]

    assert added.status_code == 201
    assert [(fact["subject"], fact["depth"], fact["turn_number"]) for fact in walk["facts"]] == [
        ("Ann", 1, 0)
    ]
    assert chain["nodes"] == ["Acme", "Ann"]
    assert (unknown.status_code, removed.status_code, left) == (404, 200, [])


async def test_words_to_forget_may_be_of_any_script_and_have_a_word(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        script = await client.post("/api/memory/forget", json={"words": "Æsop"})
        signs = await client.post("/api/memory/forget", json={"words": "———————"})

    assert (script.status_code, signs.status_code) == (200, 400)


async def test_things_of_the_graph_are_found_by_a_part_of_their_name(tmp_path: Path) -> None:
    facts = [("Ann", "Acme"), ("Ann", "Graz"), ("Anna", "Graz")]
    async with serving(tmp_path) as served, served.client() as client:
        for subject, object in facts:
            body = {"subject": subject, "predicate": "related_to", "object": object}
            await client.post("/api/graph/facts", json=body)
        found = (await client.get("/api/graph/nodes", params={"words": "aNN"})).json()["nodes"]
        most = (await client.get("/api/graph/nodes", params={"limit": 2})).json()["nodes"]
        walk = (await client.get("/api/graph/walk", params={"node": "acme", "depth": 1})).json()

    assert found == [{"name": "Ann", "facts": 2}, {"name": "Anna", "facts": 1}]
    assert [each["name"] for each in most] == ["Ann", "Graz"]
    assert (walk["nodes"], walk["links"]) == ({"Ann": 1}, {"acme": 1, "Ann": 2})


async def test_a_fact_says_the_number_of_the_turn_that_told_it(tmp_path: Path) -> None:
    async with serving(tmp_path, "Noted.", "Noted.") as served, served.client() as client:
        for text in ("hello", "Ann knows Bo"):
            said = await client.post("/api/sessions/tea/messages", json={"text": text})
            await client.get(f"/api/turns/{said.json()['turn']}/events")
        origin = Origin("tea", said.json()["turn"], CLEAN)
        GraphStore(served.app.database).add("Ann", "knows", "Bo", origin)
        GraphStore(served.app.database).add("Ann", "knows", "Cy", Origin("tea", "a deleted turn", CLEAN))
        facts = (await client.get("/api/graph/facts")).json()["facts"]

    assert [(fact["object"], fact["turn_number"]) for fact in facts] == [("Cy", 0), ("Bo", 2)]
