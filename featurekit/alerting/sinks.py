"""Where alerts go, by the settings: a webhook, what speaks like Slack, e-mail."""

from __future__ import annotations

import ssl
from typing import Protocol

from featurekit.alerting.email_sink import EmailSink
from featurekit.alerting.http_sinks import SlackSink, WebhookSink
from featurekit.alerting.notification import Notification
from featurekit.config import Settings
from featurekit.errors import SettingsError


class Sink(Protocol):
    """Takes one message, or raises AlertError; `name` is that of the settings.

    `send` returns what went wrong beside, where it was taken all the same.
    """

    @property
    def name(self) -> str: ...

    def send(self, message: Notification) -> str | None: ...


def sinks_of(settings: Settings) -> tuple[Sink, ...]:
    """Return the sinks that the settings name; SettingsError where one lacks something or would show a secret."""
    context = _trusting(settings)
    found: list[Sink] = []
    if settings.alerts_webhook_url is not None:
        found.append(
            WebhookSink(url=settings.alerts_webhook_url, secret=settings.alerts_webhook_secret, context=context)
        )
    elif settings.alerts_webhook_secret is not None:
        raise SettingsError("alerts.webhook_secret signs nothing", why="there is no alerts.webhook_url")
    if settings.alerts_slack_url is not None:
        found.append(SlackSink(url=settings.alerts_slack_url, context=context))
    if (email := _email(settings, context)) is not None:
        found.append(email)
    return tuple(found)


def _email(settings: Settings, context: ssl.SSLContext) -> EmailSink | None:
    parts = {
        "alerts.smtp_url": settings.alerts_smtp_url,
        "alerts.email_from": settings.alerts_email_from,
        "alerts.email_to": settings.alerts_email_to,
    }
    if not any(parts.values()):
        if settings.alerts_smtp_password is not None:
            raise SettingsError("alerts.smtp_password is for nobody", why="there is no alerts.smtp_url")
        return None
    if missing := [name for name, value in parts.items() if not value]:
        raise SettingsError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            why="an e-mail needs a server, somebody it is from and somebody it is to",
            try_="give all three, or none for no e-mail",
        )
    url, sender, to = parts.values()
    assert url
    assert sender
    assert to
    return EmailSink.of_url(url, password=settings.alerts_smtp_password, sender=sender, to=to, context=context)


def _trusting(settings: Settings) -> ssl.SSLContext:
    file = settings.alerts_ca_file
    try:
        return ssl.create_default_context(cafile=None if file is None else str(file))
    except OSError as error:  # an SSLError is one, too
        raise SettingsError(
            "alerts.ca_file can't be used", where=str(file), why=str(error), try_="a PEM file of certificates"
        ) from error
