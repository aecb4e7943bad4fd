"""Every folder below fixtures/ is a test: hfcount must say of it what its expected.json says."""

import json
from pathlib import Path
from typing import Any

import pytest

import hfcount

ROOT = Path(__file__).parent.parent / "fixtures"
FOLDERS = sorted(path.parent for path in ROOT.rglob("config.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_says_what_was_published(folder: Path) -> None:
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    report = hfcount.verify(folder.relative_to(ROOT).as_posix(), fixtures=ROOT)
    assert report.parameters is not None
    found = {
        "total": report.parameters.total,
        "active": report.parameters.active,
        "verdict": report.verdict,
        "findings": [finding.code for finding in report.findings],
    }
    assert found == {key: expected[key] for key in found}
    assert expected["sources"].keys() >= {"total", "total_size"}


def test_the_nine_are_there() -> None:
    assert len(FOLDERS) >= 9
