"""The page: a browser shows of it what the report says, and nothing in a report can make it do anything else."""

import base64
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import fields
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium
from defects import write
from hypothesis import given
from hypothesis import strategies as st
from paths import FIXTURES

from hfcount import Report
from hfcount.checkpoints.inspect import Options, failed, inspect, what_ifs
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.options import Extra
from hfcount.report.figures import TensorRow
from hfcount.report.renderers.colours import COLOURS
from hfcount.report.renderers.html import ROWS, render
from hfcount.report.renderers.selection import failing_first
from hfcount.report.renderers.text import share, verdict
from hfcount.report.renderers.treemap import Box, squarify
from hfcount.text import printable
from hfcount.version import PAGES

EXTRAS: tuple[Extra, ...] = ("tensors", "formula", "layers")
MOE, DENSE, HYBRID = "Qwen/Qwen3-235B-A22B", "Qwen/Qwen3-32B", "qwen3_next"
ARCHITECTURES = ("bert", "deepseek_v3", "falcon_h1", "gemma3", "jamba", "kimi_k25", HYBRID, "whisper")
DEFECTS = ("the last layer is missing", "FP8 in one file", "no hidden_size", "GPTQ, and truncated")
WIDTHS, SCHEMES = (360, 800, 1600), ("light", "dark")

Pages = dict[str, list[Report]]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Reports of every sort, by name: each makes a page, and so do all together."""
    root = tmp_path_factory.mktemp("checkpoints")
    found = {}
    for name in all_fixtures(FIXTURES):
        found[name] = inspect(Request(name, fixtures=FIXTURES), Options(extras=EXTRAS))
    for name in ARCHITECTURES:
        values = json.loads((FIXTURES / "architectures" / f"{name}.json").read_text())["config"]
        (root / "org" / name).mkdir(parents=True)
        (root / "org" / name / "config.json").write_text(json.dumps({"dtype": "bfloat16", **values}))
        found[name] = inspect(Request(f"org/{name}", fixtures=root), Options("config", extras=EXTRAS))
    for place, name in enumerate(DEFECTS):
        folder = write(name, root / str(place))
        found[name] = inspect(Request(str(folder)), Options(extras=EXTRAS)).replace(model=name)
    found["failed"] = failed("org/name", FetchError("GatedRepo", "org/name is gated."))
    return {**{name: [report] for name, report in found.items()}, "all": list(found.values()), "none": []}


# The page as text


class Reader(HTMLParser):
    """The elements of a page, each with its attributes, and the text in those that are not marked up."""

    VOID = ("meta", "input", "br", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def values(self, attribute: str) -> list[str]:
        return [given[attribute] or "" for _, given in self.elements if attribute in given]


def test_a_page_is_well_formed_and_can_be_read_aloud(pages: Pages) -> None:
    for name, reports in pages.items():
        text = render(reports)
        page = Reader(text)
        ids = page.values("id")
        assert (page.open, text[:15]) == ([], "<!DOCTYPE html>"), name
        assert len(page.all("h1")) == 1
        assert page.all("html") == [{"lang": "en"}]
        assert page.texts["title"].strip()
        assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
        assert Counter(ids).most_common(1)[:1] in ([], [(ids[0] if ids else "", 1)])
        assert set(page.values("aria-labelledby")) <= set(ids)
        assert all(cell["scope"] in ("row", "col") for cell in page.all("th"))
        assert len(page.all("caption")) == len(page.all("table"))


def test_a_page_asks_for_nothing_and_allows_nothing(pages: Pages) -> None:
    for reports in pages.values():
        page = Reader(render(reports))
        given = {attribute for _, attributes in page.elements for attribute in attributes}
        assert given & {"src", "srcset", "style", "action", "data", "poster", "background"} == set()
        assert [attribute for attribute in given if attribute.startswith("on")] == []
        assert {tag for tag, _ in page.elements} & {
            "img",
            "link",
            "iframe",
            "object",
            "base",
            "form",
            "foreignobject",
        } == set()
        own = rf"#(m\d+)?|{re.escape(PAGES)}/findings\.md#hf\d{{3}}"  # in the page, or to the page about a finding
        assert [target for target in page.values("href") if not re.fullmatch(own, target)] == []
        (policy,) = [given["content"] or "" for given in page.all("meta") if "http-equiv" in given]
        digests = {
            tag: base64.b64encode(sha256(page.texts[tag].encode()).digest()).decode() for tag in ("style", "script")
        }
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{digests['style']}'; script-src 'sha256-{digests['script']}';"
            " base-uri 'none'; form-action 'none'"
        )
        assert len(page.all("style")) == len(page.all("script")) == 1


def _table(text: str) -> list[list[str]]:
    """The cells of the summary, without their markup."""
    body = re.search(r"<table class=\"summary sizes\">.*?<tbody>(.*?)</tbody>", text, re.DOTALL)
    assert body
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    return [[re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]


def test_many_models_have_the_failing_first_with_their_findings(pages: Pages) -> None:
    text = render(pages["all"])
    rows = _table(text)
    outcomes = [row[1] for row in rows]
    assert outcomes == sorted(outcomes, key=lambda one: ("mismatch", "unverified").index(one) if one in FAILING else 2)
    failing = [report for report in pages["all"] if report.verdict == "mismatch"]
    assert [row[2] for row in rows[: len(failing)]] == [
        " ".join(dict.fromkeys(finding.code for finding in report.findings if finding.severity == "error"))
        for report in failing
    ]
    assert ["org/name", "unverified", "GatedRepo"] in [row[:3] for row in rows]
    assert f"{len(failing)} of {len(rows)} fail: HF" in text


FAILING = ("mismatch", "unverified")


def test_models_without_findings_have_no_column_of_them(pages: Pages) -> None:
    text = render([*pages[DENSE], *pages[MOE]])
    assert '<th scope="col">findings</th>' not in text
    assert '<p class="outcome">2 verified</p>' in text


def test_the_same_reports_make_the_same_page(pages: Pages) -> None:
    assert render(pages["all"]) == render([deepcopy(report) for report in pages["all"]])


def test_a_page_is_small(pages: Pages) -> None:
    assert {
        name: len(render(reports))
        for name, reports in pages.items()
        if len(reports) == 1 and len(render(reports)) > 100_000
    } == {}


@pytest.mark.long
def test_long_lists_are_cut_and_say_so(pages: Pages) -> None:
    (report,) = pages[DENSE]
    assert report.tensors and report.formula
    rows = tuple(report.tensors[0].replace(name=f"row.{number}") for number in range(100_000))
    text = render([report.replace(tensors=rows)])
    assert len(text) < 300_000
    assert f"row.{ROWS - 1}<" in text
    assert f"row.{ROWS}<" not in text
    assert f"{100_000 - ROWS:,} more rows" in text


# Layout


@pytest.mark.long
@given(st.lists(st.integers(1, 10**30), min_size=1, max_size=40).map(lambda amounts: sorted(amounts, reverse=True)))
def test_areas_are_to_each_other_as_amounts_are(amounts: list[int]) -> None:
    boxes = squarify(amounts, Box(0, 0, 160, 100))
    for amount, box in zip(amounts, boxes, strict=True):
        assert math.isclose(box.width * box.height, 16_000 * amount / sum(amounts), rel_tol=1e-6, abs_tol=1e-9)
        assert min(box) >= 0
        assert box.left + box.width < 160 + 1e-6
        assert box.top + box.height < 100 + 1e-6
    for one, other in itertools.combinations(boxes, 2):
        across = min(one.left + one.width, other.left + other.width) - max(one.left, other.left)
        down = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
        assert min(across, down) < 1e-6


def test_tiles_are_near_to_squares() -> None:
    boxes = squarify([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 6, 4))  # the example of the paper that squarified them
    assert max(max(box.width / box.height, box.height / box.width) for box in boxes) < 3


# Colours


def _linear(colour: str) -> list[float]:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    levels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    return [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels]


def _contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """WCAG 2's contrast ratio."""
    light, dark = sorted(
        (sum(w * level for w, level in zip((0.2126, 0.7152, 0.0722), colour, strict=True)) for colour in (one, other)),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("role", COLOURS)
def test_the_text_on_a_tile_can_be_read(role: Any) -> None:
    assert _contrast(*map(_linear, COLOURS[role][:2])) >= 4.5


# The page in a browser


class Browser:
    """Chromium with one page open, or none."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def command(self, name: str, **values: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, values)

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def show(self, reports: Sequence[Report], width: int = 1280, scheme: str = "light") -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=1600, deviceScaleFactor=1, mobile=False)
        self.prefer(scheme)
        path = self.folder / "page.html"
        path.write_text(render(reports), encoding="utf-8")
        self.driver.get(path.as_uri())

    def prefer(self, scheme: str) -> None:
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shown(self) -> list[str]:
        """The numbers that stand below the map, of the tile that is pointed at or has the focus."""
        found: list[str] = self.run(
            "return [...document.querySelectorAll('.detail')]"
            ".filter(d => d.checkVisibility({visibilityProperty: true})).map(d => d.innerText)"
        )
        return found

    def press(self, key: str) -> str | None:
        """Presses a key, and says what has the focus."""
        codes = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])
        focus: str | None = self.run("return document.activeElement.id || document.activeElement.className")
        return focus

    def point(self, x: float, y: float) -> None:
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all tests."""
    driver = chromium(tmp_path_factory.mktemp("profile"))
    try:
        yield Browser(driver, tmp_path_factory.mktemp("pages"))
    finally:
        driver.quit()


_READ = """
const text = (element) => element.textContent.trim();
const rows = (within, rows) => [...within.querySelectorAll(rows)].map((row) => [...row.children].map(text));
return [...document.querySelectorAll("article")].map((article) => ({
  counts: rows(article, ".counts > div"),
  components: rows(article, ".components .component"),
  layers: rows(article, ".layers tbody tr"),
  formulas: rows(article, ".formulas > div"),
  legend: rows(article, ".legend tbody tr"),
  checks: rows(article, ".checks tbody tr"),
  caches: rows(article, ".caches tbody tr"),
  tensors: rows(article, ".tensors tbody tr"),
  findings: [...article.querySelectorAll(".findings > li")].map((one) => [
    text(one.querySelector(".finding")), text(one.querySelector(".message")), ...rows(one, ".names").flat()]),
  outcome: text(article.querySelector(".outcome")),
}));
"""


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _expected(report: dict[str, Any]) -> dict[str, Any]:
    """What the page must hold, from the report's JSON."""
    parts = report["components"]
    total, active = (sum(part[name] for part in parts) for name in ("total", "active"))
    kinds = ("parts", "active", "layers", "active_layers")
    form = report.get("formula") or {**dict.fromkeys(kinds, ()), "legend": {}, "keys": {}}

    def amounts(parts: list[dict[str, Any]]) -> list[str]:
        one, used = (sum(part[name] for part in parts) for name in ("total", "active"))
        return [_number(one), share(one, total), *([_number(used), share(used, active)] if 0 < active < total else [])]

    return {
        "counts": [
            [name.replace("_", " "), _number(value)]
            for name, value in (report["parameters"] or {}).items()
            if name != "active" or value != report["parameters"]["total"]
        ],
        "components": [[part["name"], *amounts([part])] for part in parts],
        "layers": [
            [kind["name"], kind["numbers"], _number(kind["count"]), *amounts(kind["components"])]
            for kind in report.get("layers") or ()
        ],
        "formulas": [
            [part["component"], part["symbols"], part["numbers"], _number(part["value"])]
            for name in kinds
            for part in form[name]
        ],
        "legend": [[name, _number(value), form["keys"].get(name, "")] for name, value in form["legend"].items()],
        "checks": [
            [
                check["name"],
                _number(check["expected"]),
                _number(check["observed"]),
                ("agrees" if check["agrees"] else "differs") + (f": {check['text']}" if check["text"] else ""),
            ]
            for check in report["checks"]
        ],
        "caches": [
            [
                part["kind"],
                *(_number(part[name]) for name in ("layers", "bytes_per_token", "state_bytes")),
                "none" if part["window"] is None else _number(part["window"]),
                "all kept" if part["picked"] is None else _number(part["picked"]),
            ]
            for part in (report["memory"] or {"parts": ()})["parts"]
        ],
        "tensors": [
            [
                row["name"], row["component"], row["kind"], _number(row["count"]), "×".join(map(str, row["shape"])),
                _number(row["elements"]),
            ]
            for row in (report.get("tensors") or ())[:ROWS]
        ],
        "findings": [
            [f"{one['severity']} {one['code']} {one['name']}", one["message"], *(one["parts"] or one["tensors"])]
            for one in report["findings"]
        ],
    }  # fmt: skip


def test_the_page_shows_what_the_json_says(browser: Browser, pages: Pages) -> None:
    browser.show(pages["all"])
    for report, shown in zip(failing_first(pages["all"]), browser.run(_READ), strict=True):
        for row in shown["components"]:
            row[0] = row[0].partition(" ")[0]  # where a component is, is in words
        assert shown.pop("outcome") == verdict(report)
        assert shown == _expected(json.loads(report.to_json())), report.model


def test_the_summary_leads_to_every_model(browser: Browser, pages: Pages) -> None:
    browser.show(pages["all"])
    reports = failing_first(pages["all"])
    rows = browser.run(
        "return [...document.querySelectorAll('.sizes tbody tr')].map(row => [row.querySelector('a').hash,"
        " ...[...row.children].map(cell => cell.textContent.trim())])"
    )
    assert [(row[0], row[1], row[2]) for row in rows] == [
        (
            f"#m{place}",
            report.label,
            "counted" if report.depth == "config" and report.exit_code == 0 else report.verdict,
        )
        for place, report in enumerate(reports, 1)
    ]
    for report, row in zip(reports, rows, strict=True):
        counts = report.parameters
        assert row[4:6] == ([_number(counts.total), _number(counts.active)] if counts else ["", ""])
    shown = browser.run(
        "return [...document.querySelectorAll('.shares tbody tr')].map(row =>"
        " [...row.children].map(cell => cell.textContent.trim()))"
    )
    for report, row in zip([report for report in reports if report.components], shown, strict=True):
        shares = [share(part.total, sum(part.total for part in report.components)) for part in report.components]
        assert (row[0], sorted(filter(None, row[2:]))) == (report.label, sorted(shares))


def test_a_what_if_is_headed_as_one() -> None:
    reports = what_ifs(Request(DENSE, fixtures=FIXTURES), Options(extras=EXTRAS), [{"num_key_value_heads": 1}])
    page = render(reports)
    assert f"<h1>What if? {DENSE}</h1>" in page
    assert "As published, and 1 what-if: counted, not compared with anything." in page
    assert re.findall(r'<td><b class="verdict counted">([a-z-]+)</b>', page) == ["counted", "what-if"]
    assert "unverified" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_a_map_shows_what_layers_are_made_of(browser: Browser, pages: Pages) -> None:
    browser.show(pages[DENSE])
    names = browser.run("return [...document.querySelectorAll('.tile b:first-child')].map(b => b.textContent)")
    assert {"gate_proj", "up_proj", "down_proj", "q_proj", "k_proj", "v_proj", "o_proj"} <= set(names)


@pytest.mark.parametrize("width", [1280, 1440])
def test_nothing_is_cut_off_on_a_desktop(browser: Browser, pages: Pages, width: int) -> None:
    browser.show(pages["all"], width)
    cut = "return [...document.querySelectorAll('.summary')].map(t => t.offsetWidth - t.parentNode.clientWidth)"
    assert [beyond for beyond in browser.run(cut) if beyond > 0] == []


def test_a_phone_is_told_to_tap(browser: Browser, pages: Pages) -> None:
    browser.show(pages[DENSE], 360)
    assert [one.text for one in browser.driver.find_elements("css selector", ".hint")] == [
        "Tap a tile for its exact numbers."
    ]


@pytest.mark.parametrize(
    ("name", "which"), [(MOE, "all"), (MOE, "active"), (HYBRID, "all"), (HYBRID, "active"), (DENSE, "all")]
)
def test_tiles_tell_exact_numbers(browser: Browser, pages: Pages, name: str, which: str) -> None:
    (report,) = pages[name]
    browser.show(pages[name])
    if which == "active":
        browser.run("document.querySelector('input.active').click()")
    found: Counter[str] = Counter()
    tiles = browser.run(
        "return [...document.querySelectorAll('.tile')].filter(t => t.checkVisibility())"
        ".map(t => { const r = t.getBoundingClientRect();"
        " return [t.id, r.left, r.top, r.width, r.height] })"
    )
    area = {}
    for number, (_, left, top, width, height) in enumerate(tiles):
        browser.point(left + width / 2, top + height / 2)
        (text,) = browser.shown()
        match = re.match(r"(\w+)(?:, .+)?: ([\d,]+) parameters, .+ of all, ([\d,]+) active", text)
        assert match, text
        amount = int(match[3 if which == "active" else 2].replace(",", ""))
        found[match[1]] += amount
        area[amount] = width * height
        aria = browser.driver.find_elements("css selector", ".tile")[number if which == "all" else -len(tiles) + number]
        assert aria.accessible_name == text
    browser.point(1, 1)
    assert browser.shown() == []
    left_out = browser.run(
        "return [...document.querySelectorAll('.left')].filter(p => p.checkVisibility()).map(p => p.innerText).join()"
    )
    for component, amount in re.findall(r"(\w+)(?: \([^)]+\))? ([\d,]+)[.,](?: |$)", left_out.partition(":")[2]):
        found[component] += int(amount.replace(",", ""))
    assert found == {part.name: getattr(part, "active" if which == "active" else "total") for part in report.components}
    whole = sum(area)
    for amount, pixels in area.items():
        assert math.isclose(pixels / sum(area.values()), amount / whole, rel_tol=0.01, abs_tol=1e-4)


def test_tiles_are_reached_by_keys(browser: Browser, pages: Pages) -> None:
    browser.show(pages[HYBRID])
    ids = browser.run("return [...document.querySelectorAll('.plot.all .tile')].map(t => t.id)")
    browser.run("document.querySelector('input').focus()")
    for tile in ids:
        assert browser.press("Tab") == tile
        assert len(browser.shown()) == 1
        ring = browser.run(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]"
        )
        assert ring == ["solid", "3px"]
    assert (browser.press("Home"), browser.press("End"), browser.press("Home")) == (ids[0], ids[-1], ids[0])
    reached, tasks = {ids[0]}, [ids[0]]
    while tasks:
        here = tasks.pop()
        for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
            browser.run("document.getElementById(arguments[0]).focus()", here)
            there = browser.press(key)
            if there and there not in reached:
                reached.add(there)
                tasks.append(there)
    assert reached == set(ids)


def test_nothing_is_requested_and_nothing_goes_wrong(browser: Browser, pages: Pages) -> None:
    browser.driver.get_log("browser")
    for reports in pages.values():
        browser.show(reports)
        assert browser.run("return performance.getEntriesByType('resource').length") == 0
        assert browser.driver.get_log("browser") == []


_INKS = """
const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), found = new Map();
const opaque = (element) => {
  const fill = getComputedStyle(element).backgroundColor;
  return fill !== "rgba(0, 0, 0, 0)" || !element.parentElement ? fill : opaque(element.parentElement);
};
for (let node; (node = walk.nextNode()); )
  if (node.data.trim()) {
    const element = node.parentElement, ink = getComputedStyle(element).color;
    found.set(ink + " on " + opaque(element), element.className || element.tagName);
  }
return [...found];
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read(browser: Browser, pages: Pages, scheme: str) -> None:
    browser.show(pages["all"], scheme=scheme)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    pairs = browser.run(_INKS)
    assert len(pairs) > 10
    for pair, where in pairs:
        colours = [[int(level) for level in re.findall(r"\d+", colour)] for colour in pair.split(" on ")]
        ink, paper = (_linear("#" + "".join(f"{level:02x}" for level in colour)) for colour in colours)
        assert _contrast(ink, paper) >= 4.5, (pair, where)
    dark = browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert dark is (scheme == "dark")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_never_scrolls_sideways(browser: Browser, pages: Pages, width: int) -> None:
    browser.show([*pages["all"], *_poisoned(pages)], width)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    for scheme in SCHEMES:
        browser.prefer(scheme)
        wide = browser.run(
            "const page = document.documentElement; return [...document.querySelectorAll('main *')].filter(e =>"
            " !e.closest('.scroll') && e.getBoundingClientRect().right > page.clientWidth + 0.5)"
            ".map(e => e.outerHTML.slice(0, 200)).concat(page.scrollWidth > page.clientWidth ? ['page'] : [])"
        )
        assert wide == []


def test_all_is_there_without_scripts(browser: Browser, pages: Pages) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(pages[MOE])
        (report,) = pages[MOE]
        assert browser.driver.find_element("css selector", ".components tfoot .n").text == _number(
            sum(part.total for part in report.components)
        )
        tile = browser.driver.find_element("css selector", ".tile")
        assert (tile.rect["width"] > 300, tile.rect["height"] > 400) == (True, True)
        browser.point(tile.rect["x"] + 50, tile.rect["y"] + 50)
        assert "75,698,798,592 parameters" in browser.driver.find_element("css selector", ".detail").text
        browser.driver.find_element("css selector", "input.active").click()
        assert not tile.is_displayed()
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_it_prints(browser: Browser, pages: Pages) -> None:
    browser.show(pages["all"])
    document = base64.b64decode(browser.command("Page.printToPDF")["data"])
    assert len(document) > 20_000 * len(pages["all"])  # blank pages are smaller by far


# Hostile reports

_ATTACK = "window.__pwned = 1"
HOSTILE = [
    f"</script><script>{_ATTACK}</script>",
    f"</style></title></textarea>--><svg onload='{_ATTACK}'>",
    f'"><img src=x onerror="{_ATTACK}">',
    f"\" autofocus onfocus='{_ATTACK}' onmouseover='{_ATTACK}' style='position:fixed",
    "{{7*7}}{% raw %}{#",
    f"javascript:{_ATTACK}",
    "\u202egnp.exe\u2066",
    "\x00\x1b[31m\ud800\n&amp;&#39;<b>",
    "x" * 1000,
    "}*{display:none} @import url(https://elsewhere)",
]
_CHOSEN = ("verdict", "source", "depth", "severity", "schema_version", "code", "outcome", "evidence")


def _poison(value: Any, text: str) -> Any:
    """A dumped report with every text that is not one of a few replaced, keys of dictionaries too."""
    if isinstance(value, dict):
        field = (
            set(value) & {one.name for one in fields(Report)}
            or "name" in value
            or "kind" in value
            or "component" in value
        )
        known = field or set(value) & {"opened", "total", "weights", "parts", "message", "tensors", "per_token", "line"}
        return {
            key if known else f"{text}{number}": one if key in _CHOSEN else _poison(one, text)
            for number, (key, one) in enumerate(value.items())
        }
    if isinstance(value, list | tuple):
        return [_poison(one, text) for one in value]
    return text if isinstance(value, str) else value


def _poisoned(pages: Pages) -> list[Report]:
    (hybrid,), (broken,) = pages[HYBRID], pages["the last layer is missing"]
    told = hybrid.replace(
        **{name: getattr(broken, name) for name in ("checks", "findings", "evidence", "verdict")},
        overrides={"key": "value"},
        asides={"tower": "reason"},
        auxiliary={"mtp": 1},
        error=failed("m", FetchError("kind", "message")).error,
    ).model_dump()
    return [Report.model_validate(_poison(told, text)) for text in HOSTILE]


def test_hostile_texts_are_shown_and_do_nothing(browser: Browser, pages: Pages) -> None:
    reports = _poisoned(pages)
    browser.driver.get_log("browser")
    browser.show(reports)
    sane = Counter(tag for tag, _ in Reader(render([report.replace(model="m") for report in reports])).elements)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    for tile in browser.run("return [...document.querySelectorAll('.tile')].map(t => t.id)")[::20]:
        browser.run("document.getElementById(arguments[0]).focus()", tile)
    assert browser.run("return window.__pwned === undefined")
    assert browser.driver.get_log("browser") == []
    tags = browser.run("return [...document.querySelectorAll('*')].map(e => e.localName)")
    assert {tag: tags.count(tag) for tag in ("script", "style", "img", "svg", "b", "a")} == {
        tag: sane[tag] for tag in ("script", "style", "img", "svg", "b", "a")
    }
    assert (sane["script"], sane["style"], sane["img"]) == (1, 1, 0)
    for report, shown in zip(reports, browser.run(_READ), strict=True):
        text = printable(report.model, None)
        assert shown["components"][0][0] == text
        assert {row[0] for row in shown["tensors"]} == {text}
        assert shown["findings"][0][1:3] == [text, text]
        assert shown["checks"][0][3].endswith(text)
        assert shown["formulas"][0][:3] == [text, text, text]
        assert shown["legend"][0][0] == f"{text}0"
    assert all(char.isprintable() or char == "\n" for char in render(reports))


def test_hostile_rows_are_escaped_wherever_they_come_from() -> None:
    row = TensorRow(name="<i>", count=1, shape=(1,), component='" onclick="x', kind="<b>", elements=1)
    text = render([Report(model="<u>", verdict="unverified", tensors=(row,))])
    assert (text.count("<i>_"), "<u>" in text, "<b>" in text, 'onclick="' in text) == (0, False, False, False)
