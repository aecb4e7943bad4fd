"""What a stranger sees first in a terminal, a notebook and an exception: the answer, its cause and its cure."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from build import TINY, Json, config, index, save, save_tiny
from conftest import Command
from paths import FIXTURES as RECORDED
from paths import ROOT

import hfcount
from hfcount.checkpoints.inspect import Options, failed, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.report.renderers import table
from hfcount.report.renderers.amounts import short
from hfcount.report.renderers.terminal import coloured
from hfcount.text import writable

EXAMPLE = ROOT / ".github" / "examples" / "two-new-tokens"


@pytest.fixture(autouse=True)
def _desk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def _lines(report: hfcount.Report, **options: Any) -> list[str]:
    return table.render([report], **options).splitlines()


def _shapes(values: Json, **changed: tuple[int, ...]) -> dict[str, Any]:
    shapes = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(values).tensors()}
    return shapes | {name: (shape, "BF16") for name, shape in changed.items()}


def test_the_answer_is_first_and_a_mismatch_is_short() -> None:
    report = hfcount.verify(EXAMPLE)
    lines = _lines(report)
    assert lines[1:4] == ["mismatch: 1 error (HF301 shape-differs)", "", "error HF301 shape-differs"]
    assert "  Fix: Set vocab_size to 98." in lines[:10]
    assert len(lines) < 24
    assert [line.split() for line in lines if line.startswith(("tensors ", "shapes "))] == [
        ["tensors", "25", "25", "agrees"],
        ["shapes", "25", "23", "differs"],
    ]
    whole = _lines(report, full=True)
    for some, more in ((lines, False), (whole, True)):
        heads = [line.split("  ")[0] for line in some]
        assert ("component" in heads, "serving" in heads, "--details" in " ".join(some)) == (more, more, not more)


def test_a_good_model_has_its_verdict_then_what_was_compared_then_its_components() -> None:
    lines = _lines(hfcount.verify("Qwen/Qwen3-32B", fixtures=RECORDED))
    assert lines[:2] == [
        "Qwen/Qwen3-32B",
        "verified: 32,762,123,264 parameters: all names and the total size match",
    ]
    assert lines[2].startswith("Loads whole in transformers 5.24 (its own), 5.23 and 4.57")
    assert "32.8 B parameters (BF16: 2 bytes each), 61.02 GiB" in lines[3:5]
    places = [
        next(n for n, line in enumerate(lines) if line.startswith(word)) for word in ("Compared", "check", "comp")
    ]
    assert places == sorted(places)
    assert len(lines) <= 28
    assert len(lines) <= 24 or " ".join(lines[-2:]) == f"{lines[0]}: {lines[1]}"


@pytest.mark.parametrize(("name", "active"), [("Qwen/Qwen3-32B", False), ("Qwen/Qwen3-235B-A22B", True)])
def test_active_parameters_are_shown_where_they_are_fewer(name: str, active: bool) -> None:
    text = table.render([hfcount.verify(name, fixtures=RECORDED)])
    assert ("active" in text, "22.2 B active" in text) == (active, active)
    assert re.search(r"^without the embedding +\d", text, re.MULTILINE)


@pytest.mark.parametrize("option", ["context", "memory", "tp"])
def test_what_was_asked_about_serving_is_shown_of_a_mismatch_too(option: str) -> None:
    asked: dict[str, Any] = {"context": 32, "memory": "80GiB", "tp": [2]}
    assert "serving" not in _lines(hfcount.verify(EXAMPLE))
    assert "serving" in _lines(hfcount.verify(EXAMPLE, **{option: asked[option]}))


def test_an_output_longer_than_a_screen_ends_with_the_verdict() -> None:
    report = hfcount.verify("Qwen/Qwen3-32B", fixtures=RECORDED, tensors=True)
    lines = _lines(report)
    assert len(lines) > 24
    assert (lines[-3], " ".join(lines[-2:])) == ("", f"Qwen/Qwen3-32B: {lines[1]}")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_outcome_fits_the_width(tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    save(tmp_path / "m", config("llama", num_hidden_layers=4), index(TINY["llama"]))
    reports = [
        hfcount.verify("Qwen/Qwen3-32B", fixtures=RECORDED),
        hfcount.verify("Qwen/Qwen3-235B-A22B", fixtures=RECORDED),
        hfcount.verify(EXAMPLE),
        inspect(Request("m", fixtures=tmp_path), Options()),
        failed("org/gone", FetchError("NoSuchRepo", "no org/gone on the Hub")),
    ]
    for some in (*([report] for report in reports), reports, reports * 5):
        for full in (False, True):
            text = table.render(some, full=full)
            assert [line for line in text.splitlines() if len(line) > width] == []
            assert [report.verdict for report in some if report.verdict not in text] == []
    assert ("22,190,763,520" in table.render(reports)) is (width == 120)


def test_of_a_good_model_only_one_line_says_what_was_found(command: Command) -> None:
    lines = command("--fixtures", "fixtures", "org/verified", "org/explained").out.splitlines()
    assert [line for line in lines if line.startswith("org/explained: explained: ")]
    assert lines[-1] == "2 models: 1 verified, 1 explained"
    assert "note HF203" not in " ".join(lines)


# Colours

ENVIRONMENTS: dict[str, bool | None] = {
    "": None,
    "NO_COLOR=1": False,
    "NO_COLOR= FORCE_COLOR=1": True,
    "NO_COLOR=1 FORCE_COLOR=1 CLICOLOR_FORCE=1": False,
    "FORCE_COLOR=1": True,
    "FORCE_COLOR=3 CLICOLOR=0": True,
    "FORCE_COLOR=0 CLICOLOR_FORCE=1": False,
    "FORCE_COLOR=false": False,
    "CLICOLOR_FORCE=1 CLICOLOR=0": True,
    "CLICOLOR_FORCE=0": None,
    "CLICOLOR=0": False,
    "CLICOLOR=1": None,
}


@pytest.mark.parametrize("given", ENVIRONMENTS)
def test_the_environment_decides_on_colours_as_in_other_tools(given: str) -> None:
    environment = dict(pair.split("=") for pair in given.split())
    assert coloured(environment) is ENVIRONMENTS[given]


@pytest.mark.parametrize(
    ("given", "colours"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True)],
    ids=["piped", "forced", "forced-dumb"],
)
def test_colours_are_printed_into_a_pipe_where_they_are_asked_for(given: dict[str, str], colours: bool) -> None:
    ours = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLORTERM")
    environment = {name: value for name, value in os.environ.items() if name not in ours} | given
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", str(EXAMPLE)], env=environment, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr, "\x1b[1;31mmismatch" in done.stdout) == (1, "", colours)
    agrees = [line for line in done.stdout.splitlines() if "agrees" in line]
    assert ("\x1b[32m" in "".join(agrees), bool(agrees)) == (False, True)  # no good news of a bad model


@pytest.mark.parametrize(("memory", "colour"), [("80GiB", 32), ("40GiB", 33)], ids=["fits", "does not fit"])
def test_a_good_model_that_does_not_fit_is_no_good_news(
    memory: str, colour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    report = hfcount.verify("Qwen/Qwen3-32B", fixtures=RECORDED, memory=memory)
    assert f"\x1b[1;{colour}mverified: " in table.render([report])
    assert f"\x1b[1;{colour}m2 models: 2 verified" in table.render([report, report])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-8", "96×32 · 模"), ("ascii", "96x32 * ?"), ("latin-1", "96×32 · ?"), ("cp437", "96x32 · ?")],
)
def test_an_encoding_gets_what_it_can_write(encoding: str, text: str) -> None:
    assert writable("96×32 · 模", encoding) == text


def test_ascii_is_all_that_an_ascii_terminal_gets() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", str(EXAMPLE), "--details", "--formula"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert (done.stdout.isascii(), b"expected 96x32" in done.stdout) == (True, True)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (1000, "1.0 K"), (999_949, "999.9 K"), (999_950, "1.0 M"), (32_762_123_264, "32.8 B")],
)
def test_a_count_in_short(count: int, text: str) -> None:
    assert short(count) == text


# Python


def test_an_exception_says_what_was_found_and_what_to_do() -> None:
    with pytest.raises(hfcount.NotVerified) as raised:
        hfcount.verify(EXAMPLE).raise_for_verdict()
    text = str(raised.value)
    assert text.startswith(f"{EXAMPLE}: mismatch: 1 error (HF301 shape-differs): ")
    assert "model.embed_tokens.weight: expected 96×32, stored 98×32" in text
    assert text.endswith("Set vocab_size to 98.")
    assert "\n" not in text


def test_an_exception_with_many_findings_stays_short() -> None:
    one = hfcount.verify(EXAMPLE)
    (finding,) = one.findings
    long = hfcount.Finding(**{**_fields(finding), "message": f"{'x' * 5000} {finding.fix}"})
    report = hfcount.Report(model="m", verdict="mismatch", findings=(finding, long, *[finding] * 7))
    with pytest.raises(hfcount.NotVerified) as raised:
        report.raise_for_verdict()
    head, *lines, last = str(raised.value).splitlines()
    assert head.startswith("m: mismatch: 9 errors (")
    assert [line.startswith("  HF301 shape-differs: ") for line in lines] == [True] * 5
    assert [line.endswith(" Set vocab_size to 98.") for line in lines] == [True] * 5
    assert (last, max(map(len, lines)) < 1000) == ("  and 4 more: HF301", True)


def _fields(finding: hfcount.Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in finding.__dataclass_fields__}


def test_a_run_that_could_not_look_raises_its_reason() -> None:
    with pytest.raises(hfcount.NotVerified, match=r"^org/gone: unverified: no org/gone$"):
        failed("org/gone", FetchError("NoSuchRepo", "no org/gone")).raise_for_verdict()


def test_a_report_prints_as_in_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    report = hfcount.verify(EXAMPLE)
    assert "\x1b" not in str(report)
    assert "\x1b" in table.render([report])
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(report) == table.render([report])
    assert (repr(report), len(repr(report)) < 200) == (f"<Report {EXAMPLE}: mismatch HF301>", True)


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "model"])
def test_a_cell_of_a_notebook_is_the_page_and_touches_nothing_else(tmp_path: Path, name: str) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    save_tiny(tmp_path / "m")
    report = hfcount.verify_tensors(config("llama", dtype=name), _shapes(TINY["llama"]))
    text = report._repr_html_()
    assert text is not None
    tags = _Tags(text).tags
    assert {"pre", "script", "link", "img", "html", "body"} & {*tags} == set()
    assert (tags[:2], tags.count("style"), tags.count("svg")) == (["div", "style"], 1, 1)
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert style.startswith(".hfcount.hfcount {")
    depths = [style[: place + 1].count("{") - style[: place + 1].count("}") for place in _ends(style)]
    assert (min(depths[:-1]), depths[-1]) == (1, 0)  # all rules are within the cell's
    assert not re.search(r"https?:|url\(|@import", style)


def _ends(style: str) -> list[int]:
    return [place for place, char in enumerate(style) if char == "}"]


def test_without_the_extra_a_notebook_shows_markdown() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None; import hfcount\n"
        f"report = hfcount.verify({str(EXAMPLE)!r})\n"
        "print(report._repr_html_(), report._repr_markdown_()[:3])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None ###\n"
