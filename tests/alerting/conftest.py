"""Servers that take alerts, on this machine: one that speaks HTTP, one that speaks SMTP, each by the book."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest

from featurekit.alerting.notification import Change, Notification, Turn
from tests.registry.states import TODAY

MESSAGE = Notification(
    number=7,
    project="shop",
    environment="prod",
    at=TODAY,
    changes=(
        Change(subject="check:spend", turn=Turn.RED, told="3 of 100 values differ: amount scaled", since=TODAY),
        Change(subject="check:visits", turn=Turn.RECOVERED, told="everything agrees", since=TODAY - 1),
    ),
    run=12,
)


@dataclass
class Receiver:
    """An HTTP server that keeps what is posted, and answers with the statuses it was told, the last for ever."""

    port: int
    statuses: list[int] = field(default_factory=lambda: [200])
    headers: list[tuple[str, str]] = field(default_factory=list)
    delay_s: float = 0.0
    posts: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.posts.append((self.path, dict(self.headers), body))
            if found.delay_s:
                found.released.wait(found.delay_s)
            status = found.statuses.pop(0) if len(found.statuses) > 1 else found.statuses[0]
            self.send_response(status)
            for name, value in found.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Receiver(port=server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.released.set()
        server.shutdown()
        thread.join()


@dataclass
class Mailbox:
    """An SMTP server that keeps what it takes; it can ask for a login, offer STARTTLS, and refuse somebody."""

    port: int = 0
    tls: ssl.SSLContext | None = None
    login: bytes | None = None
    refused: str = "nobody"
    answers: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    mails: list[tuple[str, list[str], str]] = field(default_factory=list)
    secured: list[bool] = field(default_factory=list)


def _smtp(mailbox: Mailbox) -> type[StreamRequestHandler]:
    class Session(StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 mail.test ESMTP")
            sender, to = "", list[str]()
            while line := self.rfile.readline().decode().rstrip("\r\n"):
                mailbox.commands.append(line)
                word = line.split(" ")[0].upper()
                is_secure = isinstance(self.connection, ssl.SSLSocket)
                if word in mailbox.answers:
                    self.say(mailbox.answers[word])
                elif word == "EHLO":
                    offers = ["AUTH PLAIN"] * (mailbox.login is not None)
                    offers += ["STARTTLS"] * (mailbox.tls is not None and not is_secure)
                    for offer in ["mail.test", *offers]:
                        self.say(f"250-{offer}")
                    self.say("250 8BITMIME")
                elif word == "STARTTLS" and mailbox.tls is not None:
                    self.say("220 go on")
                    try:
                        self.connection = mailbox.tls.wrap_socket(self.connection, server_side=True)
                    except OSError:
                        return  # the client did not like the certificate
                    self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
                elif word == "AUTH":
                    is_known = mailbox.login is not None and line.endswith(mailbox.login.decode())
                    self.say("235 welcome" if is_known else "535 who are you")
                elif word == "MAIL":
                    sender, to = line.partition("<")[2].partition(">")[0], []
                    self.say("250 ok")
                elif word == "RCPT":
                    address = line.partition("<")[2].partition(">")[0]
                    if address == mailbox.refused:
                        self.say("550 no such user")
                    else:
                        to.append(address)
                        self.say("250 ok")
                elif word == "DATA":
                    self.say("354 go on")
                    lines = []
                    while (part := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                        lines.append(part)
                    mailbox.mails.append((sender, to, "\n".join(lines)))
                    mailbox.secured.append(is_secure)
                    self.say("250 taken")
                elif word == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

        def finish(self) -> None:
            super().finish()
            self.connection.close()  # STARTTLS has put another one in the place of the server's

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    return Session


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    found = Mailbox()
    with ThreadingTCPServer(("127.0.0.1", 0), _smtp(found)) as server:
        server.daemon_threads = True
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate of localhost that nobody signed but itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "server.crt", folder / "server.key"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = [*words, "-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return files


@pytest.fixture
def server_tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@pytest.fixture
def waits() -> tuple[list[float], Callable[[float], None]]:
    """What was waited for, and what to wait with: nothing passes."""
    found: list[float] = []
    return found, found.append
