"""Alerts by e-mail: over TLS, or to a server on this machine."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import closing
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, getaddresses
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from featurekit.alerting.http_sinks import TIMEOUT_S
from featurekit.alerting.notification import Notification
from featurekit.clock import SECOND
from featurekit.errors import AlertError, SettingsError

_PORTS: Final = {"smtp": 587, "smtps": 465}
_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailSink:
    """Sends the message as text; `is_wrapped`: TLS from the first byte on, else by STARTTLS.

    A server that offers no STARTTLS is refused, for who strips the offer reads along; only on this machine it need not.
    """

    host: str
    port: int
    is_wrapped: bool
    user: str | None
    password: str | None = field(repr=False)
    sender: str
    to: tuple[str, ...]
    context: ssl.SSLContext = field(repr=False)
    timeout_s: float = TIMEOUT_S

    name = "email"

    @classmethod
    def of_url(cls, url: str, *, password: str | None, sender: str, to: str, context: ssl.SSLContext) -> Self:
        """Return the sink of `smtp://user@host:port` or `smtps://…`; SettingsError for what is none."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            parts, port = urlsplit(""), None
        if port is None or not parts.hostname or parts.path.strip("/"):
            raise SettingsError("alerts.smtp_url is no mail server", try_="smtp://USER@HOST:587 or smtps://USER@HOST")
        if parts.password is not None:
            raise SettingsError(
                "alerts.smtp_url holds a password",
                why="the URL is shown, and settings files are committed",
                try_="FEATUREKIT_ALERTS_SMTP_PASSWORD, or …_FILE",
            )
        user = None if parts.username is None else unquote(parts.username)
        if (user is None) != (password is None):
            raise SettingsError(
                "alerts.smtp_url and alerts.smtp_password don't fit",
                why="a login is a user in the URL and a password",
                try_="give both, or neither",
            )
        return cls(
            host=parts.hostname,
            port=port,
            is_wrapped=parts.scheme == "smtps",
            user=user,
            password=password,
            sender=_addresses(sender, "alerts.email_from")[0],
            to=_addresses(to, "alerts.email_to"),
            context=context,
        )

    def send(self, message: Notification) -> str | None:
        """Send it to all; AlertError where the server took it for none of them. Return who was refused."""
        where = f"email over {self.host}:{self.port}"
        try:
            with closing(self._connected()) as server:
                refused = server.send_message(self._email(message))
                server.quit()
        except (smtplib.SMTPException, MessageError, OSError, ValueError) as error:
            raise AlertError(
                "the mail server did not take the alert",
                where=where,
                why=_reason(error),
                is_transient=_is_transient(error),
            ) from None
        # Sent again it would come twice to those who have it.
        return f"the mail server refused {', '.join(refused)}" if refused else None

    def _connected(self) -> smtplib.SMTP:
        if self.is_wrapped:
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=self.timeout_s, context=self.context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=self.timeout_s)
        try:
            server.ehlo()
            if not self.is_wrapped and (server.has_extn("starttls") or self.host not in _THIS_MACHINE):
                server.starttls(context=self.context)
            if self.user is not None and self.password is not None:
                server.login(self.user, self.password)
        except BaseException:
            server.close()
            raise
        return server

    def _email(self, message: Notification) -> EmailMessage:
        email = EmailMessage()
        email["From"], email["To"] = self.sender, ", ".join(self.to)
        email["Subject"] = " ".join(message.title.split())
        email["Date"] = formatdate(message.at / SECOND)
        domain = Address(addr_spec=self.sender).domain
        # The same for the same alert: who gets it twice sees it once.
        email["Message-ID"] = f"<featurekit.{message.project}.{message.environment}.{message.number}@{domain}>"
        email["Auto-Submitted"] = "auto-generated"  # no out-of-office answers
        email.set_content("\n".join(message.lines) + "\n")
        return email


def _addresses(text: str, setting: str) -> tuple[str, ...]:
    found = tuple(address for _, address in getaddresses([text]) if address)
    if not found or any("@" not in address or not address.isprintable() or " " in address for address in found):
        raise SettingsError(f"{setting} is no e-mail address", try_="oncall@example.com, or several with commas")
    return found


def _is_transient(error: Exception) -> bool:
    if isinstance(error, smtplib.SMTPResponseException):
        return error.smtp_code < 500
    return isinstance(error, OSError) and not isinstance(
        error, smtplib.SMTPNotSupportedError | smtplib.SMTPRecipientsRefused | ssl.SSLCertVerificationError
    )


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error.decode(errors="replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        return f"{error.smtp_code} {text}"[:200]
    return str(error)[:200] or type(error).__name__
