"""The action's script, run as a runner would: models, arguments and outputs, and names that would be commands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from build import config, save_tiny

ACTION = Path(__file__).parent.parent / ".github" / "actions" / "hfcount"

HOSTILE = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "--html=pwned", "::error::pwned", "a b\tc", "'\"", "*"]


class Step(NamedTuple):
    """How the step ended, what it printed, its outputs and its summary."""

    code: int
    out: str
    outputs: dict[str, str]
    summary: str


def _step(folder: Path, models: list[str], arguments: str = "", **environment: str) -> Step:
    home = Path(sys.executable).parent
    known = {
        "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "home"),
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "MODELS": "\n".join(models),
        "ARGUMENTS": arguments,
    }
    done = subprocess.run(
        [ACTION / "verify.sh"], cwd=folder, env=known | environment, capture_output=True, text=True, check=False
    )
    summary = folder / "summary"
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    return Step(done.returncode, done.stdout, outputs, summary.read_text() if summary.exists() else "")


def test_verdicts_become_outputs_and_a_summary(tmp_path: Path) -> None:
    save_tiny(tmp_path / "good")
    step = _step(tmp_path, ["./good", ""])
    assert (step.code, step.outputs["verdict"], step.outputs["models"]) == (0, "verified", "1")
    assert "verified" in step.summary
    assert [json.loads(line)["model"] for line in Path(step.outputs["report"]).read_text().splitlines()] == ["./good"]


def test_a_mismatch_fails_the_step_and_is_annotated(tmp_path: Path) -> None:
    save_tiny(tmp_path / "good")
    save_tiny(tmp_path / "bad")
    (tmp_path / "bad" / "config.json").write_text(json.dumps(config("llama", num_hidden_layers=4)))
    step = _step(tmp_path, ["./good", "./bad"], SUMMARY="false")
    assert (step.code, step.outputs["verdict"], step.outputs["mismatches"]) == (1, "mismatch", "1")
    assert "::error file=bad/" in step.out
    assert step.summary == ""


def test_arguments_are_one_a_line(tmp_path: Path) -> None:
    save_tiny(tmp_path / "some fixtures" / "m")
    step = _step(tmp_path, ["m"], "--fixtures\nsome fixtures\n")
    assert (step.code, step.outputs["verdict"]) == (0, "verified")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_run_as_a_command(tmp_path: Path, name: str) -> None:
    step = _step(tmp_path, [f"./{name}", name])
    assert (step.code, step.outputs["verdict"], step.outputs["models"]) == (3, "unverified", "2")
    assert not (tmp_path / "pwned").exists()
    assert [line for line in step.out.splitlines() if re.match(r"\s*::(?!warning )", line)] == []


def test_nothing_to_verify_is_wrong_usage(tmp_path: Path) -> None:
    step = _step(tmp_path, [])
    assert (step.code, step.outputs) == (2, {"verdict": "unverified", "models": "0", "mismatches": "0", "report": ""})


def test_inputs_are_never_part_of_a_script() -> None:
    for path in [ACTION / "action.yml", *(ACTION.parent.parent / "workflows").glob("*.yml")]:
        whole = yaml.safe_load(path.read_text())
        steps = [*whole.get("runs", {}).get("steps", ())]
        steps += [step for job in whole.get("jobs", {}).values() for step in job["steps"]]
        assert steps
        assert [step for step in steps if "${{" in str(step.get("run", ""))] == []


def test_every_output_is_declared() -> None:
    whole = yaml.safe_load((ACTION / "action.yml").read_text())
    assert set(whole["outputs"]) == {"verdict", "models", "mismatches", "report"}
