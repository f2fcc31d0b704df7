"""Each sink against a real server: what it takes is what was sent, and what goes wrong shows no secret."""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
import hmac
import json
import socket
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from featurekit.alerting.http_sinks import SlackSink, WebhookSink, slack_document
from featurekit.alerting.notification import Change, Turn, read_notification
from featurekit.alerting.sinks import Sink, sinks_of
from featurekit.config import Settings
from featurekit.errors import AlertError, SettingsError
from tests.alerting.conftest import MESSAGE, Mailbox, Receiver

SECRET = "hunter2-of-alerts"


def only(**settings: Any) -> Sink:
    (sink,) = sinks_of(Settings(root=Path(), **{f"alerts_{key}": value for key, value in settings.items()}))
    return sink


def email_sink(mailbox: Mailbox, host: str = "127.0.0.1", user: str = "", **settings: Any) -> Sink:
    url = f"smtp://{user}{host}:{mailbox.port}"
    plain = {"email_from": "fk@shop.test", "email_to": "a@shop.test, B <b@shop.test>", "smtp_url": url}
    return only(**{**plain, **settings})


def test_a_webhook_gets_the_message_signed(receiver: Receiver) -> None:
    only(webhook_url=receiver.url, webhook_secret=SECRET).send(MESSAGE)

    ((path, headers, body),) = receiver.posts
    assert path == "/hook"
    assert read_notification(body.decode()) == MESSAGE
    assert json.loads(body)["title"] == MESSAGE.title
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["Featurekit-Signature"] == f"sha256={expected}"
    assert headers["Idempotency-Key"] == "shop/prod/7"
    assert SECRET not in str(headers)


def test_without_a_secret_nothing_is_signed(receiver: Receiver) -> None:
    only(webhook_url=receiver.url).send(MESSAGE)
    assert "Featurekit-Signature" not in receiver.posts[0][1]


def test_slack_gets_blocks_in_which_nothing_is_markup(receiver: Receiver) -> None:
    change = Change(subject="check:<!channel>", turn=Turn.RED, told="a & b", since=MESSAGE.at)
    only(slack_url=receiver.url).send(replace(MESSAGE, changes=(change,)))

    found = json.loads(receiver.posts[0][2])
    assert "check:&lt;!channel&gt;" in found["text"]
    assert {block["text"]["type"] for block in found["blocks"]} == {"plain_text"}


def test_what_slack_gets_is_never_longer_than_it_takes() -> None:
    change = replace(MESSAGE.changes[0], told="x" * 400, subject="check:" + "y" * 200)
    header, section = slack_document(replace(MESSAGE, changes=(change,) * 100))["blocks"]
    assert len(header["text"]["text"]) <= 150
    assert len(section["text"]["text"]) < 3000


@pytest.mark.parametrize(
    ("status", "is_transient"), [(500, True), (503, True), (429, True), (404, False), (400, False)]
)
def test_a_refusal_says_its_status_and_not_the_url(receiver: Receiver, status: int, is_transient: bool) -> None:
    receiver.statuses = [status]
    with pytest.raises(AlertError, match=f"HTTP {status}") as refused:
        only(slack_url=f"{receiver.url}/{SECRET}").send(MESSAGE)
    assert refused.value.is_transient is is_transient
    assert SECRET not in str(refused.value)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.statuses, receiver.headers = [302], [("Location", f"{receiver.url}/elsewhere")]
    with pytest.raises(AlertError, match="HTTP 302"):
        only(webhook_url=receiver.url, webhook_secret=SECRET).send(MESSAGE)
    assert len(receiver.posts) == 1


def test_a_receiver_that_does_not_answer_is_left_after_the_timeout(receiver: Receiver) -> None:
    receiver.delay_s = 30
    sink = only(slack_url=receiver.url)
    assert isinstance(sink, SlackSink)
    with pytest.raises(AlertError, match="can't be reached") as late:
        replace(sink, timeout_s=0.2).send(MESSAGE)
    assert late.value.is_transient


def test_nobody_there_is_told_and_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(AlertError, match="can't be reached") as away:
        only(webhook_url=f"http://127.0.0.1:{port}/{SECRET}").send(MESSAGE)
    assert away.value.is_transient
    assert SECRET not in f"{away.value}"


def test_an_email_has_a_subject_a_text_and_a_number_of_its_own(mailbox: Mailbox) -> None:
    assert email_sink(mailbox).send(MESSAGE) is None

    ((sender, to, text),) = mailbox.mails
    assert (sender, to) == ("fk@shop.test", ["a@shop.test", "b@shop.test"])
    found = email.message_from_string(text, policy=email.policy.default)
    assert found["Subject"] == MESSAGE.title
    assert found["Message-ID"] == "<featurekit.shop.prod.7@shop.test>"
    assert "amount scaled" in text
    assert "featurekit check show 12" in text


def test_a_login_goes_over_tls_and_not_without_it(
    mailbox: Mailbox, server_tls: ssl.SSLContext, certificate: tuple[Path, Path]
) -> None:
    mailbox.tls, mailbox.login = server_tls, base64.b64encode(f"\0me\0{SECRET}".encode())
    email_sink(mailbox, "localhost", "me@", smtp_password=SECRET, ca_file=certificate[0]).send(MESSAGE)
    assert mailbox.secured == [True]
    with pytest.raises(AlertError, match="did not take") as refused:
        email_sink(mailbox, "localhost", "me@", smtp_password=f"wrong {SECRET}", ca_file=certificate[0]).send(MESSAGE)
    assert not refused.value.is_transient
    assert SECRET not in str(refused.value)


def test_a_certificate_that_nobody_vouches_for_is_refused(mailbox: Mailbox, server_tls: ssl.SSLContext) -> None:
    mailbox.tls = server_tls
    with pytest.raises(AlertError, match="did not take") as refused:
        email_sink(mailbox, "localhost").send(MESSAGE)
    assert "CERTIFICATE_VERIFY_FAILED" in str(refused.value)
    assert (mailbox.mails, refused.value.is_transient) == ([], False)


def test_a_server_elsewhere_that_offers_no_tls_gets_nothing(mailbox: Mailbox) -> None:
    with pytest.raises(AlertError) as refused:
        email_sink(mailbox, "127.1").send(MESSAGE)
    assert "STARTTLS" in str(refused.value)
    assert mailbox.mails == []


def test_who_is_refused_beside_others_is_told_and_nobody_gets_it_twice(mailbox: Mailbox) -> None:
    mailbox.refused = "b@shop.test"
    assert email_sink(mailbox).send(MESSAGE) == "the mail server refused b@shop.test"
    with pytest.raises(AlertError):
        email_sink(mailbox, email_to="b@shop.test").send(MESSAGE)


@pytest.mark.parametrize(("answer", "is_transient"), [("451 later", True), ("554 never", False)])
def test_a_server_that_is_busy_is_asked_again_and_one_that_says_no_is_not(
    mailbox: Mailbox, answer: str, is_transient: bool
) -> None:
    mailbox.answers["DATA"] = answer
    with pytest.raises(AlertError) as refused:
        email_sink(mailbox).send(MESSAGE)
    assert refused.value.is_transient is is_transient
    assert answer in str(refused.value)


WRONG = {
    "a webhook that is no URL": {"webhook_url": f"hooks.test/{SECRET}"},
    "a webhook of another protocol": {"webhook_url": f"file:///etc/{SECRET}"},
    "a user in the URL": {"webhook_url": f"https://me:{SECRET}@hooks.test"},
    "a port that is none": {"slack_url": f"https://hooks.test:{SECRET}/"},
    "a secret that signs nothing": {"webhook_secret": SECRET},
    "an e-mail from nobody": {"smtp_url": "smtp://mail.test", "email_to": "a@shop.test"},
    "a password in the URL": {"smtp_url": f"smtp://me:{SECRET}@mail.test", "email_from": "a@b", "email_to": "a@b"},
    "a password without a user": {
        "smtp_url": "smtp://mail.test",
        "smtp_password": SECRET,
        "email_from": "a@b",
        "email_to": "a@b",
    },
    "a password for nobody": {"smtp_password": SECRET},
    "another protocol for mail": {"smtp_url": "http://mail.test", "email_from": "a@b", "email_to": "a@b"},
    "an address that is none": {"smtp_url": "smtp://mail.test", "email_from": "ops", "email_to": "a@b"},
    "authorities that are not there": {"webhook_url": "https://hooks.test", "ca_file": Path("/no/ca.pem")},
}


@pytest.mark.parametrize("settings", WRONG.values(), ids=WRONG)
def test_wrong_settings_are_refused_and_show_no_secret(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as refused:
        sinks_of(Settings(root=Path(), **{f"alerts_{key}": value for key, value in settings.items()}))
    assert SECRET not in f"{refused.value} {refused.value!r}"


def test_no_settings_are_no_sinks_and_no_sink_shows_its_secrets() -> None:
    assert sinks_of(Settings(root=Path())) == ()
    sink = only(webhook_url=f"https://hooks.test/{SECRET}", webhook_secret=SECRET)
    assert isinstance(sink, WebhookSink)
    assert SECRET not in repr(sink)
