"""What a lookup returns: values with their statuses, in the form the caller asks for. Decoded when first asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from featurekit.clock import Instant
from featurekit.errors import InputError
from featurekit.online.answer import Answer, AnswerPlan, ViewRows
from featurekit.online.columns import Codes
from featurekit.online.one_row import WholeRow
from featurekit.online.present import float_rows, is_number, numpy_columns, python_lists
from featurekit.online.reason import Reason
from featurekit.online.request import Columns, did_you_mean
from featurekit.online.served_answer import Served, request_name
from featurekit.status import Status
from featurekit.types import Field

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Features:
    """The outputs of one service for one entity or many, named `view.feature`, in the order that a model sees.

    `service`, `fingerprint` and `at` say what was looked up and the one instant that everything in it is as of.
    """

    _request: str | int | None = None
    _answered: Answer | None = None
    _taken: list[WholeRow] | None = None
    _is_read = False

    def __init__(
        self,
        plan: AnswerPlan,
        columns: Columns,
        views: Sequence[ViewRows],
        *,
        service: str,
        fingerprint: str,
        at: Instant,
    ) -> None:
        self.service = service
        self.fingerprint = fingerprint
        self.at = at
        self.is_single = columns.is_single
        self._plan = plan
        self._columns = columns
        self._views = views

    def __len__(self) -> int:
        return self._columns.length

    def __repr__(self) -> str:
        return f"<Features of {self.service}: {len(self)} × {len(self.names)}>"

    @property
    def names(self) -> tuple[str, ...]:
        return self._plan.names

    @property
    def outputs(self) -> tuple[Field, ...]:
        """The outputs' names and types."""
        return self._plan.outputs

    def to_dict(self) -> Any:
        """Return name → value for one entity, a list of such dicts for many; None where there is no value.

        Timestamps are aware datetimes in UTC, dates are dates, decimals exact; an array is a list, maps
        and structs are dicts.
        """
        if (rows := self._whole_rows) is not None and self._plan.one is not None:
            values = self._plan.named(self._plan.one.values(rows))
            return values if self.is_single else [values]
        named, valid, answer = self._plan.named, self._valid, self._answer
        columns: list[Sequence[Any]] = [[]] * len(self.names)
        for part in answer.parts:
            mask = None if valid is None else valid[part.outputs]
            part.put(python_lists(part.kind, part.values, mask), into=columns)
        if self.is_single:
            return named([column[0] for column in columns])
        return [named(row) for row in zip(*columns, strict=True)]

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Return name → array, each of its type's own dtype; a masked array where any value is not there.

        Timestamps and dates are datetime64 (UTC); strings, binaries, decimals and nested values are Python objects, as
        `to_dict` gives them.
        """
        if (rows := self._whole_rows) is not None and self._plan.one is not None:
            return dict(zip(self.names, self._plan.one.arrays(rows), strict=True))
        columns: list[Any] = [None] * len(self.names)
        for part in self._answer.parts:
            part.put(numpy_columns(part.kind, part.values), into=columns)
        if (valid := self._valid) is not None:
            for i in np.flatnonzero(~valid.all(axis=1)).tolist():
                columns[i] = np.ma.MaskedArray(columns[i], mask=~valid[i])
        return dict(zip(self.names, columns, strict=True))

    def matrix(
        self, dtype: npt.DTypeLike = np.float64, *, names: Sequence[str] | None = None
    ) -> npt.NDArray[np.floating[Any]]:
        """Return numbers as floats, a row per entity and a column per name; NaN where there is no value.

        Booleans are 0 and 1. InputError for a feature that is no number.
        """
        chosen = None if names is None else [self._at(name) for name in names]
        self._check_numbers(chosen)
        out = np.empty((len(self), len(self.names)), dtype)
        for part in self._answer.parts:
            if is_number(part.kind):
                out[:, part.outputs] = float_rows(part.kind, part.values).T
        if (valid := self._valid) is not None:
            out[~valid.T] = np.nan
        return out if chosen is None else out[:, chosen]

    def to_arrow(self) -> pa.Table:
        """Return a table with the exact types; null where there is no value."""
        # Here and not on top: who asks for no Arrow loads none, and need not have it.
        from featurekit.online.arrow_answer import ArrowPlan

        if self._plan.arrow is None:
            self._plan.arrow = ArrowPlan(self._plan.outputs)
        return self._plan.arrow.table(self._answer, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame of Arrow-backed columns: integers stay integers, whatever is missing."""
        import pandas as pd

        return self.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)

    @property
    def statuses(self) -> Codes:
        """The `Status` of each value: a row per entity, a column per name."""
        return self._codes(self._answer.statuses)

    @property
    def reasons(self) -> Codes:
        """The `Reason` of each value that is DEFAULTED or UNAVAILABLE, laid out as `statuses`."""
        return self._codes(self._answer.reasons)

    def status(self, name: str) -> Any:
        """Return one feature's `Status` for one entity, an array of them for many."""
        column = self.statuses[:, self._at(name)]
        return Status(int(column[0])) if self.is_single else column

    @property
    def found(self) -> dict[str, Any]:
        """Whether each view had a row: view → bool for one entity, an array for many."""
        found = {
            alias: np.ones(len(self), np.bool_) if rows is None else rows for alias, rows in self._answer.found.items()
        }
        return {alias: bool(rows[0]) for alias, rows in found.items()} if self.is_single else found

    @property
    def as_of(self) -> dict[str, Instant | None]:
        """The refresh that answered for each view; None where the view is UNAVAILABLE."""
        return {alias: view.as_of for alias, view in zip(self._plan.aliases, self._views, strict=True)}

    @property
    def unavailable_views(self) -> list[tuple[str, Reason]]:
        """The views of which there are no rows at all, and why."""
        return [
            (alias, view.reason)
            for alias, view in zip(self._plan.aliases, self._views, strict=True)
            if view.as_of is None
        ]

    @property
    def age(self) -> dict[str, timedelta | None]:
        """How old each view's refresh was at the request's instant."""
        return {
            alias: None if as_of is None else timedelta(microseconds=self.at - as_of)
            for alias, as_of in self.as_of.items()
        }

    @property
    def request_id(self) -> str | None:
        """What the request is called in the served-feature log; None where it has no name and is not logged."""
        return request_name(self.at, self._request) if isinstance(self._request, int) else self._request

    def served(self, request: str | int, model: str | None, model_version: int | None) -> Served:
        """Return what the served-feature log is handed; from then on the request has this id, or this number."""
        self._request = request
        return Served(self._plan, self._columns, self._views, self.at, request, model, model_version)

    @property
    def _answer(self) -> Answer:
        answer = self._answered
        if answer is None:  # and no cached_property: its lock costs more
            rows = self._whole_rows
            if rows is None:
                answer = self._plan.answer(self._views, self._columns.values, len(self))
            else:
                answer = self._plan.answer_whole(rows)
            self._answered = answer
        return answer

    @property
    def _whole_rows(self) -> list[WholeRow] | None:
        """The rows of one entity, where all values can be taken right out of them."""
        if not self._is_read:
            self._taken = self._plan.whole_rows(self._views) if len(self) == 1 else None
            self._is_read = True
        return self._taken

    @property
    def _valid(self) -> npt.NDArray[np.bool_] | None:
        """Which values are there (outputs × rows); None when all are."""
        statuses = self._answer.statuses
        if statuses is None or not statuses.any():
            return None
        valid: npt.NDArray[np.bool_] = (statuses == Status.PRESENT) | (statuses == Status.DEFAULTED)
        return valid

    def _codes(self, codes: Codes | None) -> Codes:
        if codes is None:
            return np.zeros((len(self), len(self.names)), np.uint8)
        return codes.T

    def _at(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(
                f"{self.service} has no output {name}", where=name, try_=did_you_mean(name, self.names)
            ) from None

    def _check_numbers(self, chosen: Sequence[int] | None) -> None:
        wrong = self._plan.not_numbers if chosen is None else self._plan.not_numbers.intersection(chosen)
        if wrong:
            output = self._plan.outputs[min(wrong)]
            raise InputError(
                f"{output.name} is a {output.type}; a matrix holds numbers",
                where=output.name,
                try_="name the outputs to take: matrix(names=…)",
            )
