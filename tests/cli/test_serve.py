"""``sestet serve`` as a real program: start, stop, TLS, the browser, systemd, and its errors."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sestet.core.errors import PersonError
from sestet.server.serve import Address, require_safe
from tests.cli.conftest import Call
from tests.cli.program import PATIENCE, Home
from tests.cli.server_program import ANSWER, Server, start_server
from tests.server.certificates import certificate, needs_openssl

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is tested
_ROOT = Path(__file__).parents[2]


def events(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def ask(server: Server, text: str) -> str:
    """Send a message, and return the last words of its turn."""
    with server.client() as client:
        accepted = client.post("/api/sessions", json={"text": text}).json()
        with client.stream("GET", f"/api/turns/{accepted['turn']}/events") as response:
            return next(event for event in events(response) if event["kind"] == "turn_finished")["text"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_stops_it(home: Home, number: signal.Signals) -> None:
    with start_server(home, "--port", "0") as server:
        assert ask(server, "hello")
        port = int(server.url.rpartition(":")[2])
        with (
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as slow,
            server.client() as client,
            client.stream("GET", "/api/sessions/other/events") as stream,
        ):
            # Neither an open stream nor a request that has only begun keeps the server from stopping.
            slow.sendall(b"GET / HTTP/1.1\r\n")
            next(stream.iter_bytes())
            code, printed = server.stop(number)

    assert (code, printed) == (0, "")
    assert server.said == [
        f"The owner's token: {server.token_file}",
        f"Sestet listens at {server.url} (Ctrl-C stops it)",
    ]
    assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600


def test_a_second_start_goes_on_with_an_unfinished_turn(home: Home) -> None:
    def program(what: str) -> tuple[str, ...]:
        return ("-m", "tests.cli.server_program", what, str(home.data))

    extra = {"PYTHONPATH": str(_ROOT)}
    with start_server(home, program=program("hang"), extra=extra) as server:
        with server.client() as client:
            accepted = client.post("/api/sessions/s1/messages", json={"text": "wait"}).json()
            url = f"/api/turns/{accepted['turn']}/events"
            with client.stream("GET", url) as response:
                # The model has begun, and never ends.
                assert next(event for event in events(response) if event["kind"] == "text_streamed")
        code, _ = server.stop(signal.SIGTERM)
        assert code == 0
    with (
        start_server(home, program=program("answer"), extra=extra) as server,
        server.client() as client,
        client.stream("GET", url) as response,
    ):
        seen = list(events(response))

    assert (seen[-1]["kind"], seen[-1]["text"]) == ("turn_finished", ANSWER)
    assert [event["kind"] for event in seen].count("turn_started") == 1


@needs_openssl
def test_with_tls_it_listens_beyond_this_machine(home: Home, tmp_path: Path) -> None:
    certificate_file, key = certificate(tmp_path)
    tls = ("--tls-certificate", certificate_file, "--tls-key", key)
    names = ("--host", EVERYWHERE, "--allow-host", "box.example")
    with start_server(home, "--port", "0", *names, *tls, verify=False) as server:
        port = server.url.rpartition(":")[2]
        assert server.url == f"https://127.0.0.1:{port}"
        for host, status in (
            (f"127.0.0.1:{port}", 200),
            ("box.example", 200),
            (f"box.example:{port}", 200),
            ("evil.example", 421),
            (f"127.0.0.2:{port}", 421),
        ):
            with server.client(Host=host, Origin=f"https://{host}") as client:
                assert client.get("/api/sessions").status_code == status, host
        with server.client() as client:
            # It answers to the address at which a request arrives; on Linux this one leads here too.
            if sys.platform == "linux":
                assert client.get(f"https://127.0.0.2:{port}/api/sessions").status_code == 200
        with socket.create_connection(("127.0.0.1", int(port)), timeout=PATIENCE) as plain:
            plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert not plain.recv(1000).startswith(b"HTTP")


def test_behind_a_proxy_pages_come_over_tls(home: Home) -> None:
    options = ("--port", "0", "--behind-proxy", "--allow-host", "box.example")
    with start_server(home, *options) as server:
        assert server.url.startswith("http://127.0.0.1:")
        for origin, status in (("https://box.example", 200), ("http://box.example", 403)):
            with server.client(Host="box.example", Origin=origin) as client:
                assert client.get("/api/sessions").status_code == status


@needs_openssl
def test_open_hands_the_browser_a_code_and_never_the_token(home: Home, tmp_path: Path) -> None:
    opened, script = tmp_path / "opened", tmp_path / "browser"
    os.mkfifo(opened)
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n', encoding="utf-8")
    script.chmod(0o700)
    certificate_file, key = certificate(tmp_path)
    tls = ("--tls-certificate", certificate_file, "--tls-key", key)
    with start_server(
        home, "--port", "0", "--open", *tls, extra={"BROWSER": f"{script} %s"}, verify=False
    ) as server:
        url = opened.read_text(encoding="utf-8")
        token = server.token_file.read_text(encoding="utf-8").strip()
        with httpx2.Client(trust_env=False, verify=False, timeout=PATIENCE) as browser:
            entered, again = browser.get(url), browser.get(url)
            listed = browser.get(f"{server.url}/api/sessions")

    assert url.startswith(f"{server.url}/enter?code=")
    assert token not in url
    assert "sestet_" not in url
    assert (entered.status_code, again.status_code, listed.status_code) == (303, 401, 200)
    name, _, rest = entered.headers["set-cookie"].partition("=")
    assert name == "__Host-sestet_token"
    assert {"Secure", "HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in rest.split(";")}


@pytest.mark.parametrize("host", [EVERYWHERE, "192.0.2.1", "::", "box.example", "127.evil.example", ""])
def test_an_address_beyond_this_machine_needs_tls_or_a_proxy(host: str) -> None:
    with pytest.raises(PersonError, match="can be reached from other machines"):
        require_safe(Address(host))
    assert require_safe(Address(host, behind_proxy=True)) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_an_address_of_this_machine_alone_needs_no_tls(host: str) -> None:
    assert require_safe(Address(host)) is None


def test_the_program_refuses_to_listen_beyond_this_machine(call: Call, home: Home) -> None:
    done = call("serve", "--host", "192.0.2.1", "--port", "0")

    assert done.code == 1
    assert "'192.0.2.1' can be reached from other machines" in done.err
    assert "--tls-certificate" in done.err
    assert "--behind-proxy" in done.err
    assert not home.data.exists()


@needs_openssl
def test_files_that_tls_cannot_use_are_named(call: Call, home: Home, tmp_path: Path) -> None:
    good, key = certificate(tmp_path)
    (tmp_path / "other").mkdir()
    _, other_key = certificate(tmp_path / "other")
    locked = str(tmp_path / "locked.pem")
    command = ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate", encoding="utf-8")
    for files, told in (
        ((str(bad), key), "bad.pem"),
        ((good, str(bad)), "bad.pem"),
        ((good, other_key), "must belong to the certificate"),
        ((good, locked), "no passphrase"),
        ((str(tmp_path / "none.pem"), key), "none.pem' cannot be read: No such file"),
        ((str(tmp_path), key), "cannot be read: Is a directory"),
    ):
        done = call("serve", "--port", "0", "--tls-certificate", files[0], "--tls-key", files[1])
        assert done.code == 1
        assert told in done.err
        assert "Traceback" not in done.err
    half = call("serve", "--port", "0", "--tls-certificate", good)
    assert (half.code, "both files" in half.err) == (1, True)


def test_a_place_where_it_cannot_listen_is_named(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        in_use = call("serve", "--port", port)
    unknown = call("serve", "--port", "0", "--host", "no-such-host.invalid", "--behind-proxy")
    odd = call("serve", "--port", "0", "--host", "a..b", "--behind-proxy")
    elsewhere = call("serve", "--port", "0", "--host", "192.0.2.1", "--behind-proxy")

    assert f"cannot listen at '127.0.0.1', port {port}: Address already in use" in in_use.err
    assert "'no-such-host.invalid', port 0: this machine knows no such host" in unknown.err
    assert "'a..b', port 0: this machine knows no such host" in odd.err
    assert "'192.0.2.1', port 0: Cannot assign requested address" in elsewhere.err
    for done in (in_use, unknown, odd, elsewhere):
        assert done.code == 1
        assert "Traceback" not in done.err


def test_without_its_extra_it_says_how_to_install_it(home: Home) -> None:
    without = "import sys; sys.modules['starlette'] = None; from sestet.cli import main; main()"
    done = home.with_program("-c", without).run("serve", "--port", "0")

    assert done.returncode == 1
    assert "the server needs the extra 'server'" in done.stderr
    assert "[server]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_systemd_unit_is_valid_and_says_how_it_is_used(home: Home, tmp_path: Path) -> None:
    odd = tmp_path / 'my "data" 100% $HOME'
    done = home.run("serve", "--print-systemd", "--port", "7001", extra={"SESTET_HOME": str(odd)})
    unit = tmp_path / "sestet.service"
    unit.write_text(done.stdout, encoding="utf-8")

    assert (done.returncode, done.stderr) == (0, "")
    assert "systemctl --user enable --now sestet" in done.stdout
    assert "serve --host 127.0.0.1 --port 7001" in done.stdout
    assert '100%% $HOME"' in done.stdout
    if analyze := shutil.which("systemd-analyze"):
        checked = subprocess.run(
            [analyze, "--user", "verify", str(unit)],
            env=home.environment({"XDG_RUNTIME_DIR": str(tmp_path)}),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        assert (checked.returncode, checked.stderr) == (0, "")


def test_the_owner_starts_it_again_with_new_settings(home: Home) -> None:
    with start_server(home, "--port", "0") as server, server.client() as client:
        change = {"changes": [{"key": "limits.modelCalls", "value": 39}]}
        assert client.patch("/api/settings", json=change).status_code == 200
        assert client.post("/api/restart").status_code == 202
        again = server.read_until_ready()
        settings = client.get("/api/settings").json()["settings"]
        code, printed = server.stop(signal.SIGTERM)

    assert again[0] == "Sestet starts again, with the settings of now"
    assert again[-1] == f"Sestet listens at {server.url} (Ctrl-C stops it)"
    assert next(each["value"] for each in settings if each["key"] == "limits.modelCalls") == 39
    assert (code, printed) == (0, "")


def test_it_does_not_start_again_with_settings_that_it_would_refuse(home: Home) -> None:
    with start_server(home, "--port", "0") as server, server.client() as client:
        change = {"changes": [{"key": "limits.modelCalls", "value": 39}]}
        file = Path(client.patch("/api/settings", json=change).json()["file"])
        file.write_text("limits: [")
        refused = client.post("/api/restart")

        assert refused.status_code == 400
        assert str(file) in refused.json()["error"]["message"]
        assert ask(server, "hello")
