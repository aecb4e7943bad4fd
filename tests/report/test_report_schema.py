"""The report's public schema: what is written can be read back, and everything written is as the schema says."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from build import COMMIT, FAMILIES, TINY, Json, config, index, save
from schema import RECORDED, problems, recorded

import hfcount
from hfcount import Report
from hfcount.checkpoints.inspect import Options, failed, inspect
from hfcount.errors import UnknownArchitecture
from hfcount.fetcher import Request
from hfcount.serving.cost import Workload

SCHEMA = recorded()


def _report(folder: Path, values: Json, listed: Json | None = None) -> Report:
    save(folder / "m", values, listed)
    everything = Options(extras=("tensors", "formula", "layers"), load=Workload(1000, 2))
    return inspect(Request("m", fixtures=folder), everything)


@pytest.fixture
def every(tmp_path: Path) -> list[Report]:
    """Reports of each verdict, with everything they may hold."""
    fewer = index(TINY["llama"])
    del fewer["weight_map"]["lm_head.weight"]
    reports = [_report(tmp_path / family, TINY[family], index(TINY[family])) for family in FAMILIES]
    reports += [
        _report(tmp_path / "lacking", TINY["llama"], fewer),
        _report(tmp_path / "empty", {"model_type": "llama"}),
        failed("m", UnknownArchitecture("unheard of")),
    ]
    return [*reports, dataclasses.replace(reports[0], overrides={"a": [1, None]}, asides={"tower": "why"})]


def test_the_recorded_schema_is_current() -> None:
    assert Report.model_json_schema() == SCHEMA, f"run `hfcount --schema > {RECORDED.name}` in {RECORDED.parent.name}/"


def test_what_is_written_is_as_the_schema_says(every: list[Report]) -> None:
    found = {report.verdict for report in every}
    assert found >= {"verified", "mismatch", "unverified"}
    assert [problems(SCHEMA, json.loads(report.to_json()), SCHEMA) for report in every] == [[]] * len(every)


def test_what_is_written_is_read_back(every: list[Report]) -> None:
    for report in every:
        assert Report.model_validate_json(report.to_json()) == report
        assert Report.model_validate(report.model_dump()) == report


def test_numbers_are_plain(every: list[Report]) -> None:
    """No size drags along the formula it came from."""
    kinds: set[type] = set()
    waiting: list[Any] = [report.model_dump() for report in every]
    while waiting:
        value = waiting.pop()
        kinds.add(type(value))
        if isinstance(value, dict | list | tuple):
            waiting += value.values() if isinstance(value, dict) else value
    assert kinds <= {dict, list, tuple, str, int, float, bool, type(None)}


WRONG: dict[str, tuple[Json, str]] = {
    "a field that is unknown": ({"colour": 1}, "colour"),
    "a field of a part that is unknown": ({"error": {"kind": "k", "message": "m", "colour": 1}}, "colour"),
    "a field of another type": ({"auxiliary": {"mtp": "none"}}, "auxiliary"),
    "a verdict that is none": ({"verdict": "fine"}, "verdict"),
    "another schema": ({"schema": 2}, "schema"),
    "a part that lacks a field": ({"error": {"kind": "k"}}, "message"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_report_is_refused(case: str) -> None:
    changes, field = WRONG[case]
    written = json.loads(failed("m", UnknownArchitecture("unheard of")).to_json()) | changes
    assert problems(SCHEMA, written, SCHEMA) != []
    for read in (Report.model_validate, lambda value: Report.model_validate_json(json.dumps(value))):
        with pytest.raises(ValueError, match=field):
            read(written)


def test_a_report_does_not_change(tmp_path: Path) -> None:
    report = _report(tmp_path, config("llama"))
    with pytest.raises(AttributeError):
        report.model = COMMIT  # type: ignore[misc] # that it cannot be set is what is tested
    assert hfcount.verify("m", fixtures=tmp_path).model == "m"
