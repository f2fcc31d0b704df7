"""Every error featurekit raises.

FeaturekitError
├── InputError                 exit 2: a definition, a file, an argument is wrong
│   ├── DefinitionError            one mistake in feature_defs/, with file:line:column
│   ├── DefinitionErrors           all mistakes of a repo, reported at once
│   ├── ExpressionError            a mistake in one SQL expression, with its offset
│   │   ├── UnsupportedFunctionError   the expression can't mean the same on both paths
│   │   └── TypeMismatchError          Spark would refuse or change these types
│   ├── SettingsError              featurekit.toml, an environment variable or a flag
│   ├── SourceError                a source can't be read as declared
│   ├── KeyTypeError               an entity key or request value has the wrong type
│   ├── NotRegisteredError         a service, view or model nobody registered
│   ├── TimeError                  a time that can't be asked for (the future, off the grid)
│   ├── RequestTooLargeError       a request that asks for more than one answer may hold
│   ├── UnauthorizedError          a request to the server without one of its API keys
│   ├── GateError                  an expectation failed; nothing was published
│   ├── RollbackError              what can't be rolled back, or forward again
│   └── ModelError                 a model that doesn't fit its service
├── OutsideError               exit 3: another system failed; rerunning is safe
│   ├── OnlineStoreError           Redis is away, slow, or refuses
│   │   ├── OnlineStoreTimeoutError
│   │   ├── BreakerOpenError           it failed again and again and is left alone for a moment
│   │   ├── StoreEmptyError            it lost what was registered
│   │   ├── EvictingStoreError         its maxmemory-policy may drop rows
│   │   └── KeySpaceDroppedError       the head names a key space that is gone
│   ├── FeaturesUnavailableError   a model's features could not be had, so it was not run
│   ├── EmbeddedServerError        the embedded Valkey server does not start or stop
│   ├── RegistryError              the registry's database failed
│   ├── BatchEngineError           Spark failed
│   ├── HistoryError               the folder of kept rows can't be written or read
│   ├── RefreshRunningError        another run computes it at this moment
│   ├── AlertError                 a sink did not take an alert, which is kept
│   ├── JavaMissingError           no Java runtime for Spark
│   └── RuntimeUnavailableError    the model runtime or its device is not there
├── MaterializeErrors          exit as the worst of its failures (featurekit.materializing)
└── CodecError                 exit 70 unless caught: bytes that are not a row of ours
    ├── TruncatedRowError
    ├── ForeignRowError            another view version, or not a row at all
    └── NewerWireVersionError      written by a later featurekit
"""

from __future__ import annotations


class FeaturekitError(Exception):
    """An error that says what, where, why, and what to try."""

    exit_code = 70

    def __init__(self, what: str, *, where: str | None = None, why: str | None = None, try_: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.try_ = try_

    def __reduce__(self) -> tuple[object, ...]:
        # Spark pickles errors between processes; keyword-only parts would be lost otherwise.
        return (_rebuild, (type(self), self.what, self.__dict__))

    def __str__(self) -> str:
        """Return the error as people read it: the name and what, then where, why and try on lines of their own."""
        lines = [f"{type(self).__name__}: {self.what}"]
        parts = (("where", self.where), ("why", self.why), ("try", self.try_))
        lines += [f"  {label:<6} {text}" for label, text in parts if text]
        return "\n".join(lines)

    def parts(self) -> dict[str, str | None]:
        """Return the error as a JSON-able dict: error, what, where, why, try."""
        return {
            "error": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "try": self.try_,
        }


def _rebuild(kind: type[FeaturekitError], what: str, state: dict[str, object]) -> FeaturekitError:
    error = kind.__new__(kind)
    Exception.__init__(error, what)
    error.__dict__.update(state)
    return error


class InputError(FeaturekitError):
    exit_code = 2


class DefinitionError(InputError):
    """One mistake in a definition; `where` is file:line:column."""


class DefinitionErrors(InputError):
    """All mistakes of a repo, in the order of their positions."""

    def __init__(self, mistakes: tuple[DefinitionError, ...]) -> None:
        count = len(mistakes)
        super().__init__(f"{count} mistake{'s' if count != 1 else ''} in the definitions")
        self.mistakes = mistakes

    def __str__(self) -> str:
        return "\n".join([*(str(mistake) for mistake in self.mistakes), self.what])

    def parts(self) -> dict[str, str | None]:
        return {**super().parts(), "mistakes": [mistake.parts() for mistake in self.mistakes]}  # type: ignore[dict-item]


class ExpressionError(InputError):
    """A mistake in one SQL expression; `offset` is its first character in the text, or None where unknown."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        why: str | None = None,
        try_: str | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(what, where=where, why=why, try_=try_)
        self.offset = offset


class UnsupportedFunctionError(ExpressionError):
    pass


class TypeMismatchError(ExpressionError):
    pass


class SettingsError(InputError):
    pass


class SourceError(InputError):
    pass


class KeyTypeError(InputError):
    pass


class NotRegisteredError(InputError):
    pass


class TimeError(InputError):
    pass


class RequestTooLargeError(InputError):
    pass


class UnauthorizedError(InputError):
    pass


class GateError(InputError):
    pass


class RollbackError(InputError):
    """Readers can't be moved back, or forward again: there is nothing to read there, or nothing to undo."""


class ModelError(InputError):
    pass


class OutsideError(FeaturekitError):
    exit_code = 3


class OnlineStoreError(OutsideError):
    pass


class OnlineStoreTimeoutError(OnlineStoreError):
    pass


class BreakerOpenError(OnlineStoreError):
    pass


class StoreEmptyError(OnlineStoreError):
    pass


class EvictingStoreError(OnlineStoreError):
    pass


class KeySpaceDroppedError(OnlineStoreError):
    pass


class FeaturesUnavailableError(OutsideError):
    pass


class EmbeddedServerError(OutsideError):
    pass


class RegistryError(OutsideError):
    pass


class BatchEngineError(OutsideError):
    pass


class HistoryError(OutsideError):
    pass


class RefreshRunningError(OutsideError):
    pass


class AlertError(OutsideError):
    """A sink did not take an alert; `is_transient` says whether trying again may help."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        why: str | None = None,
        try_: str | None = None,
        is_transient: bool = False,
    ) -> None:
        super().__init__(what, where=where, why=why, try_=try_)
        self.is_transient = is_transient


class JavaMissingError(OutsideError):
    pass


class RuntimeUnavailableError(OutsideError):
    pass


class CodecError(FeaturekitError):
    pass


class TruncatedRowError(CodecError):
    pass


class ForeignRowError(CodecError):
    pass


class NewerWireVersionError(CodecError):
    pass
