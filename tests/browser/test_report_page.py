"""The report in a real browser: it sorts, leads from a cause to its evidence, and fits every window in both schemes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from featurekit.consistency.page.render import render_page
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.view_report import FieldReport
from tests.browser.conftest import Open
from tests.browser.reports import replay_report, right_report, wrong_report

WINDOWS = [(375, "light"), (375, "dark"), (1280, "light"), (1280, "dark")]
PAGE = wrong_report().to_html()
TEXTS = (
    *(
        "section",
        ".line",
        ".quiet",
        ".type",
        ".of",
        ".explains",
        ".also",
        ".remedy",
        ".compared",
        "figcaption",
        "footer",
    ),
    *(".fields td.n", ".wrong td.n:nth-of-type(2)", ".cause-link", "thead th", "dt", ".badge", ".mark", ".sql code"),
    *(".evidence td", ".evidence .why td", ".evidence details li", ".counts li", ".state.bad", ".headline"),
)


def fields(page: Page) -> list[str]:
    """Return the fields of the table that are seen, in their order."""
    seen = "(links) => links.filter((link) => link.checkVisibility()).map((link) => link.innerText)"
    names: list[str] = page.locator("table.fields tbody th a").evaluate_all(seen)
    return names


def colours(page: Page) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return the colour of each kind of text, and that of what it stands on."""
    found = page.evaluate(
        """(selectors) => Object.fromEntries(selectors.map((selector) => {
          const element = document.querySelector(selector);
          let under = element;
          while (getComputedStyle(under).backgroundColor === "rgba(0, 0, 0, 0)") under = under.parentElement;
          return [selector, [getComputedStyle(element).color, getComputedStyle(under).backgroundColor]];
        }))""",
        list(TEXTS),
    )
    return {name: (_parts(ink), _parts(paper)) for name, (ink, paper) in found.items()}


def _parts(colour: str) -> tuple[float, ...]:
    return tuple(float(part) for part in re.findall(r"[\d.]+", colour)[:3])


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the contrast of two colours as WCAG has it."""

    def luminance(parts: tuple[float, ...]) -> float:
        linear = [part / 12.92 if (part := raw / 255) <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for raw in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_a_person_gets_from_the_verdict_to_a_source_row(open_page: Open, width: int, scheme: str) -> None:
    found = open_page(PAGE, width=width, scheme=scheme)
    page = found.page
    assert page.locator("h1").inner_text().endswith("2 of 8 fields are served other values than training computes.")

    assert fields(page)[0] == "carrier_punctuality.mean_delay_7d"
    page.get_by_role("button", name="Field").click()
    assert fields(page) == sorted(fields(page))
    page.get_by_role("button", name="Field").press("Enter")
    assert fields(page) == sorted(fields(page), reverse=True)
    assert page.get_by_role("columnheader", name="Field").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Differ").press("Space")
    assert fields(page)[:2] == ["carrier_punctuality.mean_delay_7d", "carrier_punctuality.late_share_7d"]

    page.locator("table.fields").get_by_role("link", name="null filled with 0").click()
    cause = page.locator("article.cause:target")
    assert "Null filled with 0 in carrier_punctuality.mean_delay_7d" in cause.inner_text()
    assert cause.bounding_box()["y"] < 900  # type: ignore[index]
    row = cause.locator("details li").first
    assert not row.is_visible()
    cause.locator("summary").first.press("Enter")
    assert "dep_delay = NULL" in row.inner_text()

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (sum(colours(page)["section"][1]) < 3 * 128) is (scheme == "dark")
    faint = {name: contrast(*pair) for name, pair in colours(page).items() if contrast(*pair) < 4.5}
    assert faint == {}
    assert found.complaints == []
    assert [url.partition(":")[0] for url in found.requests] == ["file"]


def lead_somewhere(page: Page) -> bool:
    """Return whether every link of the page has a target, and each target a name of its own."""
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    links = page.evaluate("[...document.links].map((link) => link.getAttribute('href').slice(1))")
    return len(names) == len(set(names)) and set(links) <= set(names)


def test_a_replay_keeps_its_three_questions_apart(open_page: Open) -> None:
    found = open_page(replay_report().to_html(), width=375)
    told = [" ".join(fact.inner_text().split()) for fact in found.page.locator("header .facts > div").all()]
    assert told == [
        "Replayed 5,000 of 12,480 logged rows",
        "Freshness 300 late of 5,000 answers of a view",
        "Logic 310 differ from their own as-of's values",
        "Evaluator 2,000 differ from what their inputs make",
    ]
    assert fields(found.page) == [
        "on demand.trip.flights_log",
        "carrier_punctuality.mean_delay_7d",
        "carrier_punctuality.flights_7d",
    ]
    assert lead_somewhere(found.page)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 375
    assert found.complaints == []


def test_links_lead_somewhere_and_one_into_a_fold_opens_it(open_page: Open) -> None:
    page = open_page(PAGE).page
    assert lead_somewhere(page)
    shown = page.locator('[id="field-carrier_punctuality.mean_delay_7d"]')
    assert not shown.locator(".lineage").is_visible()
    page.locator("table.fields").get_by_role("link", name="carrier_punctuality.mean_delay_7d").click()
    shown.locator(".lineage").wait_for()
    steps = [" ".join(step.inner_text().split()) for step in shown.locator(".lineage > li").all()]
    assert steps[0].startswith("departures dep_delay cancelled departed_at")
    assert steps[1:] == ["from its rows a1 = avg(`dep_delay`) the last 7d", "mean_delay_7d a1", "services flight_delay"]

    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((each) => Number(each.tagName[1]))")
    assert levels.count(1) == 1
    assert page.locator("svg[role=img]:not([aria-label])").count() == 0


def test_what_data_holds_is_text_and_runs_nowhere(open_page: Open) -> None:
    evil = "</script><script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"
    document = json.dumps(wrong_report().document()).replace("carrier = 'AA'", json.dumps(evil)[1:-1])
    found = open_page(render_page(json.loads(document)))
    assert "taken" not in found.page.title()
    assert evil in found.page.locator(".evidence").first.inner_text()
    assert (len(found.requests), found.complaints) == (1, [])


def test_of_very_many_fields_the_first_are_shown_until_all_are_asked_for(open_page: Open) -> None:
    page = open_page(many_fields(60).to_html(), width=375).page
    assert len(fields(page)) == 12
    page.get_by_role("button", name="Compared").click()
    assert fields(page)[0] == "airport_place.f00"
    page.get_by_role("button", name="Show all 60 fields").click()
    assert len(fields(page)) == 60


def test_without_scripts_all_is_there(open_page: Open) -> None:
    page = open_page(many_fields(60).to_html(), script=False).page
    assert len(fields(page)) == 60
    assert page.locator("details.field").count() == 60


def many_fields(count: int) -> ConsistencyReport:
    """Return a report of so many fields, which agree."""
    plain = right_report()
    (view,) = plain.views
    counts = view.fields[0].counts
    made = tuple(FieldReport(name=f"f{at:02}", type="double", counts=counts) for at in range(count))
    return replace(plain, views=(replace(view, fields=made),))
