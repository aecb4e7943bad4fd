"""Files for other programs: JUnit, SARIF, CSV, annotations, and several of them in one run."""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from xml.etree import ElementTree

import pytest
from build import TINY, config, index, save, save_tiny
from conftest import Command
from sarif_pydantic import Sarif
from test_renderers import COMMANDS, _commanding

from hfcount import Report
from hfcount.checkpoints.inspect import Options, failed, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.report.renderers import (
    OUTPUTS,
    badge,
    brief,
    card,
    concise,
    csv_long,
    github,
    gitlab,
    junit,
    markdown,
    sarif,
)
from hfcount.report.renderers import csv as csv_report
from hfcount.serving.cost import Workload
from hfcount.version import PAGES, REPOSITORY

FIXTURES = ("--fixtures", "fixtures")
GONE = failed("org/gone", FetchError("NoSuchRepo", "no org/gone"))


@pytest.fixture
def reports(tmp_path: Path) -> list[Report]:
    """One of each outcome."""
    checkpoints = {
        "verified": TINY["llama"],
        "mismatch": config("llama", num_hidden_layers=4),
        "noted": config("llama", num_towers=3),
    }
    for name, values in checkpoints.items():
        save(tmp_path / name, values, index(TINY["llama"]))
    found = [inspect(Request(name, fixtures=tmp_path), Options()) for name in checkpoints]
    return [*found, inspect(Request("noted", fixtures=tmp_path), Options("config")), GONE]


def test_junit_has_a_case_for_each_check_and_finding(reports: list[Report]) -> None:
    whole = ElementTree.fromstring(junit.render(reports))
    suites = {one.get("name"): one for one in whole}
    assert [suites["verified"].get(name) for name in ("failures", "errors", "skipped")] == ["0"] * 3
    check, failure, last = suites["mismatch"].iter("failure")
    assert (check.get("type"), "expected" in str(check.get("message"))) == ("tensors", True)
    assert (failure.get("type"), "model.layers.3" in str(failure.text)) == ("HF201", True)
    assert (last.get("type"), str(last.get("message"))[:8]) == ("mismatch", "mismatch")
    assert suites["mismatch"].find("testcase[@name='verdict']/failure") is last
    assert [one.get("type") for one in suites["org/gone"].iter("error")] == ["NoSuchRepo"]
    assert len(list(suites["noted"].iter("skipped"))) <= 1
    for suite in suites.values():
        assert suite.get("tests") == str(len(suite))
    assert whole.get("tests") == str(sum(1 for _ in whole.iter("testcase")))


def test_a_file_that_is_missing_or_cut_has_a_row(tmp_path: Path) -> None:
    folders = [save_tiny(tmp_path / name) for name in ("gone", "cut")]
    missing, file = (next(folder.glob("*.safetensors")) for folder in folders)
    missing.unlink()
    file.write_bytes(file.read_bytes()[:-100])
    gone, cut = (inspect(Request(str(folder)), Options("headers")) for folder in folders)
    rows = [(check.name, check.expected - check.observed, check.agrees) for check in (gone.checks[0], cut.checks[0])]
    assert rows == [("files", 1, False), ("bytes", 100, False)]
    assert next(ElementTree.fromstring(junit.render([cut])).iter("failure")).get("type") == "bytes"


def test_markdown_has_the_order_of_the_terminal(reports: list[Report]) -> None:
    text = markdown.render([next(report for report in reports if report.verdict == "mismatch")])
    places = [text.index(part) for part in ("mismatch: ", "**error [HF201", "| check |", "| component |")]
    assert places == sorted(places)


def test_junit_keeps_answers_about_serving_apart(tmp_path: Path) -> None:
    save(tmp_path / "verified", TINY["llama"], index(TINY["llama"]))
    load = Workload(ranks=(1, 7), memory=1)
    report = inspect(Request("verified", fixtures=tmp_path), Options(load=load))
    cases = {case.get("name"): case for case in ElementTree.fromstring(junit.render([report])).iter("testcase")}
    assert report.verdict == "verified"
    assert [
        name for name, case in cases.items() if case.find("failure") is not None and not str(name).startswith("HF")
    ] == [
        "tp, 7 ranks",
        "memory, 1 rank",
    ]


JUNIT = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "file"},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": ({"name", "classname", "time"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    **dict.fromkeys(("failure", "error", "skipped"), ({"type", "message"}, set[str]())),
    **dict.fromkeys(("system-out", "system-err"), (set[str](), set[str]())),
}
"""Attributes and children by element, of those that the schema of Jenkins allows (xunit-plugin, junit-10.xsd)."""


def test_junit_is_what_the_schema_of_jenkins_says(reports: list[Report]) -> None:
    whole = ElementTree.fromstring(junit.render(reports))
    for element in whole.iter():
        attributes, children = JUNIT[element.tag]
        assert {*element.keys()} <= attributes
        assert {child.tag for child in element} <= children
    for suite in whole:
        assert {"name", "tests", "failures", "errors"} <= {*suite.keys()}


def test_sarif_is_what_its_schema_says(reports: list[Report]) -> None:
    text = sarif.render(reports)
    Sarif.model_validate_json(text)
    run = json.loads(text)["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["HF102", "HF201"]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [one["ruleId"] for one in run["results"]]
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]]
    assert places[0].startswith("mismatch/")
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "no org/gone" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_sarif_has_what_code_scanning_asks_for(reports: list[Report]) -> None:
    (run,) = json.loads(sarif.render(reports))["runs"]
    driver = run["tool"]["driver"]
    assert driver["informationUri"] == REPOSITORY
    for rule in driver["rules"]:
        assert rule["helpUri"] == f"{PAGES}/findings.md#{rule['id'].lower()}"
        assert all(rule[part]["text"] for part in ("shortDescription", "fullDescription", "help"))
        assert max(len(rule[part]["text"]) for part in ("shortDescription", "fullDescription")) <= 1024
        assert rule["helpUri"] in rule["help"]["markdown"]
    lines = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]]
    assert min(lines) >= 1
    marks = [one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]]
    assert len({*marks}) == len({(one["ruleId"], one["message"]["text"]) for one in run["results"]})
    again = json.loads(sarif.render(reports[::-1]))["runs"][0]["results"]
    assert {*marks} == {one["partialFingerprints"]["primaryLocationLineHash"] for one in again}


def _quality(reports: list[Report]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(gitlab.render(reports))
    return entries


def test_code_quality_has_the_fields_that_gitlab_reads(reports: list[Report]) -> None:
    entries = _quality(reports)
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"].keys() == {"path", "lines"}
        assert not entry["location"]["path"].startswith(("/", "./"))
        assert entry["location"]["lines"]["begin"] >= 1
        assert entry["description"] and re.fullmatch("[0-9a-f]{16}", entry["fingerprint"])
    marks = [entry["fingerprint"] for entry in entries]
    assert len({*marks}) == len(marks)
    assert [(entry["check_name"], entry["severity"]) for entry in entries] == [
        ("HF201 missing-tensor", "critical"),
        ("HF102 unread-key", "info"),
        ("HF102 unread-key", "info"),
        ("NoSuchRepo", "major"),
    ]


def test_code_quality_knows_a_finding_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the folder is spelt, and at whatever line the key is by then."""
    folder = tmp_path / "models" / "m"
    save(folder, values := config("llama", num_towers=3), index(TINY["llama"]))
    monkeypatch.chdir(tmp_path)

    def entry(model: str) -> dict[str, Any]:
        entries = _quality([inspect(Request(model), Options())])
        return next(entry for entry in entries if entry["check_name"] == "HF102 unread-key")

    first, second = entry("models/m"), entry(str(folder))
    (folder / "config.json").write_text(json.dumps({"num_towers": 3, **values}, indent=3))
    moved = entry("./models/m")
    assert first["fingerprint"] == second["fingerprint"] == moved["fingerprint"]
    assert first["location"] == second["location"] == {"path": "models/m/config.json", "lines": {"begin": ANY}}
    assert moved["location"]["lines"] != first["location"]["lines"]


def test_an_empty_code_quality_report_is_an_array(reports: list[Report]) -> None:
    assert _quality(reports[:1]) == []


def test_a_badge_is_what_shields_reads(reports: list[Report]) -> None:
    verified, mismatch, _, counted, gone = ([report] for report in reports)
    texts = [json.loads(badge.render(some)) for some in (verified, mismatch, counted, gone, reports)]
    assert [(one["message"], one["color"], one.get("isError", False)) for one in texts] == [
        ("verified", "brightgreen", False),
        ("mismatch", "red", True),
        ("counted", "blue", False),
        ("unverified", "lightgrey", False),
        ("5 models: 2 verified, 1 mismatch, 1 unverified, 1 counted", "red", True),
    ]
    for one in texts:
        assert (one["schemaVersion"], one["label"]) == (1, "hfcount")


def test_a_badge_of_what_does_not_fit_is_red(tmp_path: Path) -> None:
    save(tmp_path / "m", TINY["llama"], index(TINY["llama"]))
    report = inspect(Request("m", fixtures=tmp_path), Options(load=Workload(memory=1)))
    assert report.verdict == "verified"
    shown = json.loads(badge.render([report]))
    assert (shown["message"], shown["color"]) == ("verified; does not fit", "red")


@pytest.mark.parametrize("text", ["1234567e89", "0o17", "1_0", "0x1f", "on", "2026-01-31"])
def test_a_card_quotes_what_either_version_of_yaml_takes_for_something_else(text: str) -> None:
    assert card.yaml({"revision": text}) == f'revision: "{text}"'


@pytest.mark.parametrize("below", [True, False], ids=["below the working directory", "elsewhere"])
def test_paths_are_relative_to_where_hfcount_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: bool
) -> None:
    folder = tmp_path / "a model"
    save(folder, config("llama", num_towers=3), index(TINY["llama"]))
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path if below else here)
    (folder / "config.json").write_text(json.dumps(config("llama", num_towers=3), indent=1))
    report = inspect(Request(str(folder)), Options("index"))
    results = json.loads(sarif.render([report]))["runs"][0]["results"]
    (result,) = (one for one in results if one["ruleId"] == "HF102")
    place = result["locations"][0]["physicalLocation"]
    whole = (folder / "config.json").as_uri()
    assert place["artifactLocation"]["uri"] == ("a%20model/config.json" if below else whole)
    text = (folder / "config.json").read_text().splitlines()
    assert "num_towers" in text[place["region"]["startLine"] - 1]
    file = "a model/config.json" if below else folder / "config.json"
    assert f"\n{file}:{place['region']['startLine']}: note HF102 unread-key: " in concise.render([report])


def test_a_line_each_for_models_and_findings(reports: list[Report]) -> None:
    lines = concise.render(reports).splitlines()
    assert len(lines) == len(reports) + sum(len(report.findings) for report in reports) + 1
    assert lines[:2] == brief.render(reports).splitlines()[:2]
    assert lines[2].startswith("mismatch: error HF201 missing-tensor: ")
    assert lines[2].endswith(f"See {PAGES}/findings.md#hf201")


def test_a_sheet_has_a_row_for_each_model_and_no_formula(reports: list[Report]) -> None:
    rows = list(csv.DictReader(StringIO(csv_report.render([*reports, Report(model="=1+1", verdict="unverified")]))))
    assert [row["verdict"] for row in rows] == ["verified", "mismatch", "verified", "unverified"] + ["unverified"] * 2
    assert (rows[1]["findings"], rows[0]["total"], rows[4]["error"]) == ("HF201", "4740", "NoSuchRepo")
    assert rows[5]["model"] == "'=1+1"


def test_a_long_sheet_has_a_row_for_each_component(reports: list[Report]) -> None:
    rows = list(csv.DictReader(StringIO(csv_long.render(reports))))
    first = [row for row in rows if row["model"] == "verified"]
    assert [row["component"] for row in first] == [part.name for part in reports[0].components]
    assert sum(int(row["parameters"]) for row in first) == 4740
    assert sum(float(row["share"]) for row in first) == pytest.approx(1)
    assert {(row["dtype"], int(row["bytes"]) / int(row["parameters"])) for row in first} == {("BF16", 2.0)}
    assert {row["model"] for row in rows} == {report.label for report in reports if report.components}
    mixed = next(report for report in reports if report.components)
    assert mixed.memory
    mixed = mixed.replace(memory=mixed.memory.replace(weights={"BF16": 9000, "F32": 480}))
    assert {row["bytes"] for row in csv.DictReader(StringIO(csv_long.render([mixed])))} == {""}


def test_annotations_name_the_file_and_the_rule(tmp_path: Path) -> None:
    save(tmp_path, config("llama", num_towers=3), index(TINY["llama"]))
    text = github.render([inspect(Request(str(tmp_path)), Options("index"))])
    file = f"file={tmp_path}/config.json,line=1,title=HF102 unread-key"
    assert f"::notice {file}::{tmp_path}: hfcount does not read num_towers for llama." in text


def test_no_name_issues_a_command_or_leaves_its_own(tmp_path: Path) -> None:
    gone = failed("##[error]x", FetchError("HubError", "a\n::b"))
    reports = [_commanding(tmp_path), _commanding(tmp_path, "::error::model"), gone]
    lines = github.render(reports).splitlines()
    commands = [line for line in lines if line.strip().startswith("::")]
    assert len(commands) == sum(len(one.findings) + bool(one.error) for one in reports)
    for line in commands:
        settings = line[2:].partition("::")[0]
        assert settings.partition(" ")[0] in ("error", "notice", "warning")
        assert {one.partition("=")[0] for one in settings.partition(" ")[2].split(",")} <= {"file", "line", "title"}
    assert [line for line in lines if "##[" in line] == []
    assert len(lines) == len(commands) + len(reports) + 1
    assert COMMANDS[0] not in lines


def test_brief_is_a_line_each_and_a_tally(reports: list[Report]) -> None:
    text = brief.render(reports).splitlines()
    assert text[0].startswith("verified: verified: 4,740 parameters")
    assert text[-1] == "5 models: 2 verified, 1 mismatch, 1 unverified, 1 counted"
    assert brief.render(reports[1:2]).startswith("mismatch: mismatch: 1 error (HF201")


def test_several_files_are_written_in_one_run(command: Command, tmp_path: Path) -> None:
    paths = [tmp_path / f"report.{kind}" for kind in OUTPUTS if kind not in ("svg", "pdf")]
    wanted = [part for path in paths for part in ("--output", str(path))]
    odd = tmp_path / "report.txt"
    result = command(*FIXTURES, "org/verified", "org/mismatch", *wanted, "--output", f"csv:{odd}", "-q")
    assert (result.code, result.out.splitlines()[-1]) == (1, "2 models: 1 verified, 1 mismatch")
    assert [path for path in paths if not path.read_bytes()] == []
    assert odd.read_text() == (tmp_path / "report.csv").read_text()
    assert len((tmp_path / "report.json").read_text().splitlines()) == 2


@pytest.mark.parametrize("path", ["report.doc", "report", "csv:", "no/such/folder/a.csv"])
def test_a_file_that_cannot_be_written_is_refused_at_once(command: Command, path: str) -> None:
    result = command(*FIXTURES, "org/verified", "--output", path)
    assert (result.code, result.out) == (2, "")


def test_a_step_gets_its_summary(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert command(*FIXTURES, "org/mismatch", "--format", "github").code == 1
    assert "**mismatch: 1 error" in (tmp_path / "summary.md").read_text()


def test_models_are_listed_in_a_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "models.txt").write_text("# mine\norg/verified\n\norg/explained  # tied\n")
    result = command(*FIXTURES, "--list", str(tmp_path / "models.txt"), "-q")
    assert (result.code, result.out.splitlines()[-1]) == (0, "2 models: 1 verified, 1 explained")
    (tmp_path / "models.txt").write_text("# none\n")
    result = command(*FIXTURES, "--list", str(tmp_path / "models.txt"))
    assert (result.code, "models.txt contains no model name" in result.err) == (2, True)


@pytest.mark.parametrize(("text", "tokens"), [("32k", 32768), ("32,768", 32768), ("1M", 2**20), ("7", 7)])
def test_a_context_is_a_number_or_so_many_thousands(command: Command, text: str, tokens: int) -> None:
    (report,) = command(*FIXTURES, "org/verified", "--context", text, "--format", "json").reports
    assert report["memory"]["context"] == tokens


@pytest.mark.parametrize("text", ["0", "-1", "k", "3x", "9999999999999m"])
def test_a_context_that_is_no_number_is_refused(command: Command, text: str) -> None:
    assert command(*FIXTURES, "org/verified", "--context", text).code == 2


def test_one_rule_is_explained(command: Command) -> None:
    by_code, by_name = command("--rules", "HF201"), command("--rules", "missing-tensor")
    assert (by_code.code, by_code.out) == (0, by_name.out)
    assert by_code.out.startswith("HF201 missing-tensor (error)\n")
    assert command("--rules", "HF999").code == 2
