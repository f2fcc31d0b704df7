"""Findings as the page shows them, and what they ask to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from featurekit.consistency.page.story import CauseCard, Document, Step


def cause_cards(found: Iterable[tuple[str, Document]]) -> Iterator[CauseCard]:
    """Yield findings, each with the view it is of, in the order in which they matter: what is unknown comes last."""
    listed = list(found)
    weight: Counter[str] = Counter()
    for _, finding in listed:
        weight[finding["cause"]] += finding["count"]

    def place(each: tuple[str, Document]) -> tuple[bool, bool, int]:
        finding = each[1]
        return finding["cause"] == "unknown", finding["value_mismatch"], -weight[finding["cause"]]

    for number, (view, finding) in enumerate(sorted(listed, key=place), start=1):
        yield CauseCard(
            anchor=f"cause-{number}",
            cause=" and ".join((finding["cause"], *finding["together"])),
            view=view,
            field=finding["field"],
            count=finding["count"],
            unit="row" if finding["field"] is None else "value",
            share=finding["share"],
            confidence=finding["confidence"],
            since=finding["since"],
            also=tuple(finding["also"]),
            remedy=finding["remedy"],
            evidence=finding["evidence"],
        )


def steps(causes: Sequence[CauseCard]) -> Iterator[Step]:
    """Yield what to do about causes, the same thing said once; what explains most comes first."""
    asked: dict[tuple[str, str], list[CauseCard]] = {}
    for card in causes:
        asked.setdefault((card.cause, card.remedy), []).append(card)
    for (cause, remedy), cards in asked.items():
        since = min((card.since for card in cards if card.since), default=None)
        yield Step(cause=cause, remedy=remedy, places=tuple((card.place, card.anchor) for card in cards), since=since)
