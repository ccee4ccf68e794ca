"""Heads of messages: one reading, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.services.browser.proxy_request import (
    BadMessageError,
    ProxyRequest,
    parse_answer,
    parse_chunk_size,
    parse_request,
)


def request(*fields: str, line: str = "POST http://public.example/ HTTP/1.1") -> bytes:
    return "\r\n".join((line, *fields, "", "")).encode("latin-1")


def test_a_plain_request_is_rewritten_for_the_server() -> None:
    head = request(
        "host: other.example",
        "Cookie: a=b",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic c2VjcmV0",
        "Connection: keep-alive, X-Private",
        "X-Private: 1",
        "Keep-Alive: timeout=5",
        "TE: trailers",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQ",
        "Accept: \t text/html ",
        line="GET http://public.example:8080?q=1 HTTP/1.1",
    )
    assert parse_request(head) == ProxyRequest(
        "public.example",
        8080,
        False,
        b"GET /?q=1 HTTP/1.1\r\nHost: public.example:8080\r\nCookie: a=b\r\nAccept: text/html\r\n"
        b"Connection: close\r\n\r\n",
    )


def test_a_tunnel_names_its_host_and_port() -> None:
    assert parse_request(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n") == ProxyRequest("[::1]", 443, True)


def test_the_length_of_a_body_is_kept() -> None:
    sized = parse_request(request("Content-Length: 12"))
    assert sized.body == 12
    assert b"Content-Length: 12\r\n" in sized.head
    chunked = parse_request(request("Transfer-Encoding: Chunked"))
    assert chunked.body == "chunked"
    assert b"Transfer-Encoding: chunked\r\n" in chunked.head


@pytest.mark.parametrize(
    "head",
    [
        request("Content-Length: 5", "Transfer-Encoding: chunked"),
        request("Transfer-Encoding: chunked", "Content-Length: 5"),
        request("Content-Length: 5", "Content-Length: 6"),
        request("Content-Length: 5", "content-length: 5"),
        request("Content-Length: 5, 5"),
        request("Content-Length: +5"),
        request("Content-Length: -1"),
        request("Content-Length: 0x5"),
        request("Content-Length: 5 5"),
        request("Content-Length:"),
        request("Content-Length: \u00b2"),
        request("Content-Length: 9999999999999999999"),
        request("Content-Length : 5"),
        request("Content-Length\t: 5"),
        request(" Content-Length: 5"),
        request("X: 1", " Content-Length: 5"),
        request("X: 1", "\tfolded"),
        request("X: 1\nTransfer-Encoding: chunked"),
        request("X: 1\rTransfer-Encoding: chunked"),
        request("X: 1\x00"),
        request("X: 1\x0bY: 2"),
        request("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        request("Transfer-Encoding: chunked, chunked"),
        request("Transfer-Encoding: gzip, chunked"),
        request("Transfer-Encoding: identity"),
        request("Transfer-Encoding: xchunked"),
        request("Transfer-Encoding: \x0bchunked"),
        request("Transfer-Encoding: chunked\xa0"),
        request("Transfer-Encoding:"),
        request("Transfer-Encoding : chunked"),
        request("Transfer-Encoding: chunked", line="POST http://public.example/ HTTP/1.0"),
        request("Connection: Content-Length", "Content-Length: 5"),
        request("Connection: close, host"),
        request("Host: public.example", "Host: other.example"),
        request("no colon"),
        request(": no name"),
        request("b\u00e4d: name"),
        request(*(f"X{number}: 1" for number in range(201))),
        request(line="GET / HTTP/1.1"),
        request(line="GET * HTTP/1.1"),
        request(line="GET //public.example/ HTTP/1.1"),
        request(line="GET https://public.example/ HTTP/1.1"),
        request(line="GET ftp://public.example/ HTTP/1.1"),
        request(line="GET file:///etc/passwd HTTP/1.1"),
        request(line="GET ws://public.example/ HTTP/1.1"),
        request(line="GET http:///path HTTP/1.1"),
        request(line="GET http://user@public.example/ HTTP/1.1"),
        request(line="GET http://user:word@public.example/ HTTP/1.1"),
        request(line="CONNECT user@public.example:443 HTTP/1.1"),
        request(line="GET http:public.example HTTP/1.1"),
        request(line="GET http://public.example/#part HTTP/1.1"),
        request(line="GET http://public.example/a b HTTP/1.1"),
        request(line="GET http://public.example/\u00e9 HTTP/1.1"),
        request(line="GET  http://public.example/ HTTP/1.1"),
        request(line="GET\thttp://public.example/\tHTTP/1.1"),
        request(line=" GET http://public.example/ HTTP/1.1"),
        request(line="G(T http://public.example/ HTTP/1.1"),
        request(line="GET http://public.example/ HTTP/1.1 "),
        request(line="GET http://public.example/ HTTP/0.9"),
        request(line="GET http://public.example/ HTTP/2.0"),
        request(line="GET http://public.example/ http/1.1"),
        request(line="GET http://public.example/"),
        request(line="GET http://public.example/ HTTP/1.1\nX: 1"),
        request(line="PRI * HTTP/2.0"),
        request(line="CONNECT public.example HTTP/1.1"),
        request(line="CONNECT http://public.example:80 HTTP/1.1"),
        request(line="CONNECT public.example:80/ HTTP/1.1"),
        request(line="connect public.example:80 HTTP/1.1"),
        request("Content-Length: 5", line="CONNECT public.example:80 HTTP/1.1"),
        request("Transfer-Encoding: chunked", line="CONNECT public.example:80 HTTP/1.1"),
        request(line=""),
    ],
)
def test_a_request_with_two_readings_is_refused(head: bytes) -> None:
    with pytest.raises(BadMessageError):
        parse_request(head)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_whatever_is_read_has_one_host_one_length_and_no_hidden_line(target: bytes, fields: bytes) -> None:
    try:
        read = parse_request(b"GET http://" + target + b" HTTP/1.1\r\n" + fields + b"\r\n\r\n")
    except BadMessageError:
        return
    lines = read.head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    assert not any(byte in line for line in lines for byte in (b"\r", b"\n", b"\0"))
    names = [line.partition(b":")[0].lower() for line in lines[1:]]
    assert names.count(b"host") == 1
    assert names.count(b"content-length") + names.count(b"transfer-encoding") <= 1
    assert lines[-1] == b"Connection: close"


def test_an_answer_ends_the_connection_and_asks_for_no_password() -> None:
    answer = parse_answer(
        b"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
        b"Upgrade: h2\r\nProxy-Authenticate: Basic\r\n"
        b"Transfer-Encoding: chunked\r\nodd line\r\nSet-Cookie: a=\xe9\r\n\r\n"
    )
    assert not answer.interim
    assert answer.head == (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=\xe9\r\nConnection: close\r\n\r\n"
    )


def test_an_interim_answer_is_followed_by_another() -> None:
    answer = parse_answer(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    assert answer.interim
    assert answer.head == b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"


@pytest.mark.parametrize(
    "line",
    [
        b"HTTP/1.1 407 Proxy Authentication Required",
        b"HTTP/1.1 101 Switching Protocols",
        b"HTTP/2 200 OK",
        b"HTTP/1.1 20 OK",
        b"ICY 200 OK",
        b"+PONG",
        b"",
    ],
)
def test_an_answer_that_no_website_gives_is_refused(line: bytes) -> None:
    with pytest.raises(BadMessageError) as error:
        parse_answer(line + b"\r\nA: 1\r\n\r\n")
    assert error.value.status == 502


@pytest.mark.parametrize(
    "line",
    [
        b"\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b" 1\r\n",
        b"1\n",
        b"1;a\n\r\n",
        b"g\r\n",
        b"1" * 16 + b"\r\n",
    ],
)
def test_a_chunk_without_a_clear_size_is_refused(line: bytes) -> None:
    with pytest.raises(BadMessageError):
        parse_chunk_size(line)


def test_the_size_of_a_chunk_is_hexadecimal() -> None:
    assert parse_chunk_size(b"1a;name=value\r\n") == 26
