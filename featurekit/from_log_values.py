"""What a training set from the log is asked for with, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FromLogSpec:
    """What a training set is made of: the log's folder, labels by `request_id`, and when a label counts.

    A label is mature once `mature_after` has passed since `label_time` (since its request, where no column is named),
    or at the time in `label_known`; without either each is. With `strict` rows that another version of the service
    answered are refused; else they count where they have the same outputs. `environments` names whose answers are
    taken, as `environment` or `project/environment`; it may be empty where the log holds those of one alone.
    """

    log: Path
    labels: Path
    label_time: str | None = None
    label_known: str | None = None
    mature_after: int | None = None
    strict: bool = False
    statuses: bool = False
    environments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCount:
    """What became of the labels and of the log's rows; `rows` are in the training set."""

    labels: int
    logged: int
    rows: int
    labels_without_request: int
    repeated_labels: int
    rows_without_label: int
    repeated_rows: int
    immature: int
    unavailable: int
    degraded: int
    other_version: int
    other_outputs: int
    other_environments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FromLogResult:
    """A training set of what was served; `differing` counts the values that training would compute otherwise.

    `environments` are those that were read, as project/environment, with their rows in the log.
    """

    path: Path
    id: str
    service: str
    environments: Mapping[str, int]
    count: LogCount
    differing: Mapping[str, int] | None
