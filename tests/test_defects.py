"""Every defect of defects.py is found on disk and on the Hub, called by its code, and nothing else is found."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Result
from defects import CASES, UNLISTED, write
from loopback import Hub

import hfcount

NAMES = {name: f"org/case-{number}" for number, name in enumerate(CASES)}

EXIT_CODES = {"verified": 0, "explained": 0, "mismatch": 1, "unverified": 3}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every case on disk."""
    root = tmp_path_factory.mktemp("cases")
    return {name: write(name, root / place) for name, place in NAMES.items()}


@pytest.fixture(scope="module")
def published(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, Result]]:
    """Every case on a Hub, and what one command says of them all."""
    hub, home = Hub(), tmp_path_factory.mktemp("home")
    for server in (hub, hub.cdn):
        server.start()
    for name, folder in folders.items():
        hub.publish(NAMES[name], folder)
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", "--format", "json", "--depth", "headers", *NAMES.values()],
        env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HOME": str(home)},
        cwd=home,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    yield hub, Result(done.returncode, done.stdout, done.stderr)
    for server in (hub, hub.cdn):
        server.stop()


@pytest.fixture(scope="module")
def from_the_hub(published: tuple[Hub, Result]) -> dict[str, dict[str, Any]]:
    """The report of each case."""
    return dict(zip(CASES, published[1].reports, strict=True))


def codes(report: dict[str, Any]) -> list[str]:
    return sorted(finding["code"] for finding in report["findings"])


def messages(report: dict[str, Any]) -> str:
    return "\n".join(finding["message"] for finding in report["findings"])


@pytest.mark.parametrize("name", CASES)
def test_on_disk(folders: dict[str, Path], name: str) -> None:
    case, made = CASES[name], hfcount.verify(str(folders[name]))
    report = made.model_dump()
    assert (report["verdict"], codes(report)) == (case.verdict, case.codes.split())
    assert [text for text in case.says if text not in messages(report)] == []
    assert (made.exit_code, report["error"]) == (EXIT_CODES[case.verdict], None)
    assert report["evidence"] is None or report["evidence"]["unlisted"] == case.unlisted


@pytest.mark.parametrize("name", CASES)
def test_on_the_hub(from_the_hub: dict[str, dict[str, Any]], name: str) -> None:
    case, report = CASES[name], from_the_hub[name]
    if case.unseen:
        assert (report["verdict"], codes(report), report["error"]["kind"]) == ("unverified", [], case.unseen)
        return
    assert (report["verdict"], codes(report)) == (case.verdict, case.codes.split())
    assert [text for text in case.says if text not in messages(report)] == []
    assert "error" not in report


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.unseen])
def test_the_hub_says_what_the_disk_says(
    folders: dict[str, Path], from_the_hub: dict[str, dict[str, Any]], name: str
) -> None:
    """All but where it is from, and the files that only a folder lists."""
    of_disk, of_hub = json.loads(hfcount.verify(str(folders[name]), depth="headers").to_json()), from_the_hub[name]
    same = of_hub.keys() - {"schema", "model", "revision", "source", "evidence", "findings"}
    assert {key: of_hub[key] for key in same} == {key: of_disk[key] for key in same}
    for finding in of_disk["findings"]:  # a message names the document
        finding["message"] = finding["message"].replace(f"{folders[name]}/", f"{NAMES[name]}@{of_hub['revision'][:7]} ")
    assert of_hub["findings"] == of_disk["findings"]
    if of_hub["evidence"] is not None:
        assert of_hub["evidence"] | {"unlisted": []} == of_disk["evidence"] | {"unlisted": []}


def test_the_worst_decides(published: tuple[Hub, Result]) -> None:
    _, result = published
    assert (result.code, result.err) == (1, "")


def test_nothing_is_asked_for_but_what_the_index_names(published: tuple[Hub, Result]) -> None:
    """Neither what lies beside the model nor what lies outside the repo."""
    hub, _ = published
    files = {path.partition("/resolve/")[2].partition("/")[2] for path in hub.paths()}
    assert not files & set(UNLISTED)
    assert not any("whoami" in path for path in hub.paths())
