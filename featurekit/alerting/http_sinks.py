"""Alerts by HTTP: as a JSON document of ours, signed; or as what Slack's incoming webhooks take."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from featurekit.alerting.notification import Notification
from featurekit.errors import AlertError, SettingsError

TIMEOUT_S: Final = 10.0
_SECTION: Final = 2_900  # Slack refuses a section of more than 3,000 characters
_TITLE: Final = 150
_MOST_LINES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WebhookSink:
    """Posts the message as JSON. With a secret a header signs it: HMAC-SHA256 of the body, in hexadecimal."""

    url: str
    secret: str | None
    context: ssl.SSLContext
    timeout_s: float = TIMEOUT_S

    name = "webhook"

    def __post_init__(self) -> None:
        _check_url(self.url, "alerts.webhook_url")

    def send(self, message: Notification) -> str | None:
        """Post it; AlertError where it was not taken."""
        body = message.to_json().encode()
        # A receiver that got it twice, because we died before we knew, can tell by this.
        headers = {"Idempotency-Key": f"{message.project}/{message.environment}/{message.number}"}
        if self.secret is not None:
            signature = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
            headers["Featurekit-Signature"] = f"sha256={signature}"
        _post(self.url, body, headers, sink=self.name, context=self.context, timeout_s=self.timeout_s)
        return None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SlackSink:
    """Posts the message as Slack's blocks, with its title as the text of the notification."""

    url: str
    context: ssl.SSLContext
    timeout_s: float = TIMEOUT_S

    name = "slack"

    def __post_init__(self) -> None:
        _check_url(self.url, "alerts.slack_url")

    def send(self, message: Notification) -> str | None:
        """Post it; AlertError where it was not taken."""
        body = json.dumps(slack_document(message), ensure_ascii=False).encode()
        _post(self.url, body, {}, sink=self.name, context=self.context, timeout_s=self.timeout_s)
        return None


def slack_document(message: Notification) -> dict[str, Any]:
    """Return the message as Slack takes it: nothing in it is markup, and nothing is longer than it may be."""
    lines = message.lines
    if len(lines) > _MOST_LINES:
        lines = (*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more")
    text = "\n".join(f"• {line}" for line in lines)
    title = message.title if len(message.title) <= _TITLE else message.title[: _TITLE - 1] + "…"
    return {
        "text": _plain(message.title),
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": title}},
            {"type": "section", "text": {"type": "plain_text", "text": text[:_SECTION]}},
        ],
    }


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the message, and what signs it, to somebody whom the settings don't name."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _post(
    url: str, body: bytes, headers: dict[str, str], *, sink: str, context: ssl.SSLContext, timeout_s: float
) -> None:
    where = f"{sink} on {urlsplit(url).hostname}"  # its path and its query may be the secret
    known = {"Content-Type": "application/json", "User-Agent": "featurekit"}
    request = urllib.request.Request(url, data=body, headers=known | headers, method="POST")
    opener = urllib.request.build_opener(_NoRedirects, urllib.request.HTTPSHandler(context=context))
    try:
        opener.open(request, timeout=timeout_s).close()
    except urllib.error.HTTPError as error:
        error.close()
        is_transient = error.code in (408, 425, 429) or error.code >= 500
        raise AlertError(
            f"{sink} did not take the alert: HTTP {error.code}", where=where, is_transient=is_transient
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        why = str(reason) or type(reason).__name__
        raise AlertError(f"{sink} can't be reached", where=where, why=why, is_transient=True) from None


def _check_url(url: str, setting: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        is_one = False
    if not is_one or any(character.isspace() for character in url):
        raise SettingsError(f"{setting} is no URL that can be posted to", try_="https://HOST/PATH, without a user")
