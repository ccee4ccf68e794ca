"""What importing costs is a matter of what is imported."""

import subprocess
import sys

import sestet


def modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after some code, beyond those it starts with.

    Code that goes on after the moment in question keeps the modules of that moment as ``now``.
    """
    start = "import sys; before = set(sys.modules); now = set()"
    script = f"{start}\n{code}\nprint(*((now or set(sys.modules)) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_sestet_loads_nothing_else() -> None:
    assert modules_after("import sestet") == {"sestet"}


def test_opening_an_assistant_loads_no_vendor() -> None:
    loaded = modules_after("import sestet; sestet.open, sestet.ScriptedModel, sestet.build_agent_tree")

    vendors = {
        "pydantic",
        "rich",
        "typer",
        "ruamel",
        "prompt_toolkit",
        "httpx",
        "a2a",
        "numpy",
        "pydantic_ai",
        "openai",
    }
    assert not {name.partition(".")[0] for name in loaded} & vendors


def test_an_assistant_is_ready_before_what_it_does_not_need_for_that_is_loaded() -> None:
    opening = """
import asyncio, sestet, tempfile
async def open_one(home):
    async with sestet.open({}, model=sestet.ScriptedModel([]), home=home):
        return set(sys.modules)
with tempfile.TemporaryDirectory() as home:
    now = asyncio.run(open_one(home))
"""
    loaded = modules_after(opening)

    assert "sestet.app" in loaded
    assert not loaded & {
        "sestet.background",
        "sestet.models.vendor",
        "sestet.services.payments.payments",
        # Threads are started for work that waits, and nothing waits before the first message.
        "concurrent.futures.thread",
        # It loads OpenSSL.
        "hashlib",
        "numpy",
    }


def test_every_public_name_can_be_loaded() -> None:
    for name in sestet.__all__:
        assert getattr(sestet, name) is not None
