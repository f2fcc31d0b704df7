"""A training set's rows in each of the ways to tell which value a label gets: as declared, as served, by event time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from featurekit.clock import Instant
from featurekit.compiled import CompiledService
from featurekit.errors import InputError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.event_time import all_seeing
from featurekit.offline.join_plan import evidence_columns
from featurekit.offline.labels import LabelSpec, read_labels
from featurekit.offline.manifest import AsOfMode
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.served_join import ServedHistory, as_served, served_evidence
from featurekit.offline.snapshot import SourceSnapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRows:
    """How the rows of a training set come about. `snapshots` are the sources as they are now, by name.

    `shapes` is told, by view, how its rows and the labels are brought together.
    """

    as_of: AsOfMode
    snapshots: Mapping[str, SourceSnapshot]
    served: ServedHistory | None = None
    now: Instant | None = None
    shapes: dict[str, str] = field(default_factory=dict)

    def of(
        self,
        engine: BatchEngine,
        service: CompiledService,
        labels: LabelSpec | DataFrame,
        *,
        timestamp: str = "event_timestamp",
        evidence: bool = False,
    ) -> DataFrame:
        """Return each label row exactly once, with the service's outputs, then the columns of `evidence`."""
        if isinstance(labels, LabelSpec):
            timestamp, labels = labels.timestamp, read_labels(engine, service, labels)
        match self.as_of:
            case AsOfMode.DECLARED:
                told = self.shapes.update
                return point_in_time(
                    engine, service, labels, timestamp=timestamp, now=self.now, evidence=evidence, told=told
                )
            case AsOfMode.EVENT_TIME:
                # No label is too young for what is known by now, so there is no `now` to hold it to.
                seeing = all_seeing(service)
                told = self.shapes.update
                return point_in_time(engine, seeing, labels, timestamp=timestamp, evidence=evidence, told=told)
            case AsOfMode.SERVED:
                if self.served is None:
                    raise InputError("what was served is not on record here", try_="build the set from its own store")
                self.shapes.update((part.view.name, "rows of the refreshes that answered") for part in service.views)
                return as_served(
                    engine,
                    service,
                    labels,
                    self.served,
                    timestamp=timestamp,
                    snapshots=self.snapshots,
                    now=self.now,
                    evidence=evidence,
                )
            case _:
                assert_never(self.as_of)

    def evidence(self, service: CompiledService) -> tuple[str, ...]:
        """Return the columns that come last where evidence is asked for."""
        found = tuple(evidence_columns(service).values())
        return (*found, *served_evidence(service).values()) if self.as_of is AsOfMode.SERVED else found
