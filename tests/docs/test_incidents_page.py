"""The page of what was found in public: each command shows its finding, on a checkpoint with the same fault."""

import json
import re
import shlex
from pathlib import Path

import pytest
from incidents import INCIDENTS, Incident
from test_pages import ROOT

from hfcount.cli.main import main

ROWS = [row for rows in INCIDENTS.values() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.thread)
def test_the_command_shows_the_finding(
    row: Incident, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row.write(tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    name, *words = shlex.split(row.command)
    assert name == "hfcount"
    main.main([*words, "--json"], standalone_mode=False)
    assert [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]] == [row.code]


def test_each_thread_is_once_on_the_page() -> None:
    text = (ROOT / "hfcount" / "docs" / "incidents.md").read_text()
    shown = re.findall(r"\]\((https://github\.com/[\w./-]+/issues/\d+)\)", text)
    assert shown == [row.url for row in ROWS]
    assert len({*shown}) == len(shown)
