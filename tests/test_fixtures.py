"""Every folder below fixtures/ is a test: hfcount must say of it what its expected.json says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from paths import FIXTURES
from pydantic import TypeAdapter

import hfcount
from hfcount.report.model import Verdict
from hfcount.verifier.rules import RULES

FOLDERS = sorted(path.parent for path in FIXTURES.rglob("config.json"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """expected.json: elements, the verdict, codes of findings, and where each number is published."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    total: int
    active: int
    verdict: Verdict
    findings: list[str]
    sources: dict[str, str]
    note: str | None = None


EXPECTED = TypeAdapter(Expected)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(FIXTURES).as_posix())
def test_says_what_was_published(folder: Path) -> None:
    expected = EXPECTED.validate_json((folder / "expected.json").read_bytes())
    report = hfcount.verify(folder.relative_to(FIXTURES).as_posix(), fixtures=FIXTURES)
    assert report.parameters is not None
    assert report.parameters.total == expected.total
    assert report.parameters.active == expected.active
    assert report.verdict == expected.verdict
    assert [finding.code for finding in report.findings] == expected.findings
    assert set(expected.findings) <= RULES.keys()
    assert expected.sources.keys() >= {"total", "total_size"}


def test_a_slip_in_what_is_expected_is_named() -> None:
    with pytest.raises(ValueError, match="findngs"):
        EXPECTED.validate_json('{"total": 1, "active": 1, "verdict": "verified", "findngs": [], "sources": {}}')


def test_the_nine_are_there() -> None:
    assert len(FOLDERS) >= 9
