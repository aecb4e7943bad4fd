"""The JSON of commands besides verify: the fields that the page promises, and no text among them."""

import json
import re
from pathlib import Path

import pytest
from blocks import DOCS
from build import config, raw, save_tiny
from conftest import Command

from hfcount.cli.dispatch import run
from hfcount.verifier.rules import RULES

PAGE = (DOCS / "json.md").read_text()


def promised(command: str) -> set[str]:
    """The fields that the page lists for a command; a word followed by `:` is one that holds the rest."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `hfcount {command}"))
    told = re.sub(r"\([^)]*\)", "", row.split(" | ")[-1]).partition("`plan`:")
    return set(re.findall("`([a-z_]+)`", f"{told[0]}{told[1]}"))


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    folder = save_tiny(tmp_path / "bad")
    (folder / "config.json").write_bytes(raw(config("llama", num_hidden_layers=4)))
    return folder


@pytest.mark.parametrize(
    ("words", "row", "code"),
    [
        ("rules HF201", "rules", 0),
        ("rules HF3", "rules", 0),
        ("architectures LlamaForCausalLM", "architectures", 0),
        ("architectures kimi", "architectures", 0),
        ("loaders", "loaders", 0),
        ("fix bad", "fix PATH", 1),
        ("fix bad --write --only HF201", "fix PATH", 0),
        ("sweep out bad -q --workers 1", "sweep OUT ...", 0),
        ("sweep out --dry-run bad", "sweep OUT --dry-run", 0),
    ],
)
@pytest.mark.parametrize("option", ["--json", "--format json"])
def test_it_has_the_fields_of_the_page(
    command: Command, bad: Path, words: str, row: str, code: int, option: str
) -> None:
    result = command(*words.split(), *option.split())
    assert (result.code, result.err) == (code, "")
    assert result.reports
    for report in result.reports:
        assert set(report) == promised(row)


def test_all_of_a_kind_are_listed(command: Command) -> None:
    assert [report["code"] for report in command("rules", "--json").reports] == [*RULES]
    types = [report["model_type"] for report in command("architectures", "--json").reports]
    assert len(types) == len(set(types)) > 1000
    assert {"llama", "qwen3_moe"} <= set(types)


def test_what_a_sweep_found_and_what_fix_undid(command: Command, bad: Path) -> None:
    command("sweep", "out", "bad", "-q", "--workers", "1")
    (checked,) = command("sweep", "out", "--check", "--json").reports
    assert (set(checked), len(checked["mismatches"])) == (promised("sweep OUT --check"), 1)
    command("fix", bad, "--write", "--only", "HF201")
    (undone,) = command("fix", bad, "--undo", "--json").reports
    assert set(undone) == promised("fix --undo")


def test_an_unknown_word_is_wrong_usage(command: Command) -> None:
    for words in (["rules", "HF999"], ["architectures", "nosuch"], ["architectures", "timm/resnet50"]):
        assert command(*words, "--json").code == 2


@pytest.mark.parametrize("kind", ["json", "md", "html"])
def test_diff_prints_a_format_in_place_of_the_text(command: Command, bad: Path, kind: str) -> None:
    out = command("diff", bad, bad, "-o", f"{kind}:-").out
    begins = {"json": '{"schema": 1', "md": "#", "html": "<!DOCTYPE html>"}
    assert out.startswith(begins[kind])
    assert not Path("-").exists()
    assert command("diff", bad, bad, "-o", f"{kind}:-", "-q").code == 2


def test_a_log_goes_to_standard_output(
    bad: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bad.parent)
    monkeypatch.setattr("sys.argv", ["hfcount", "sweep", "out", "bad", "-q", "--workers", "1", "--log", "-", "--json"])
    with pytest.raises(SystemExit):
        run()
    events = [json.loads(line).get("event") for line in capfd.readouterr().out.splitlines()]
    assert events == ["begun", "row", "ended", None]
