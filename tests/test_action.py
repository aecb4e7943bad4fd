"""The action's script, run as a runner would: models, arguments and outputs, and names that would be commands."""

import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from build import config, save_tiny
from paths import ROOT
from tables import over

ACTION = ROOT / ".github" / "actions" / "hfcount"
SPEC = spec_from_file_location("run", ACTION / "run.py")
assert SPEC
assert SPEC.loader
SPEC.loader.exec_module(run := module_from_spec(SPEC))

HOSTILE = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "--html=pwned", "::error::pwned", "a b\tc", "x'", "*"]

SHELLS = (("bash", "--noprofile", "--norc", "-e", "-o", "pipefail"), ("bash", "--posix", "-e"), ("dash", "-e"))
"""The runner's, and two that know no more than the oldest bash does."""


class Step(NamedTuple):
    """How the step ended, what it printed, its outputs and its summary."""

    code: int
    out: str
    outputs: dict[str, str]
    summary: str


def _environment(folder: Path, **more: str) -> dict[str, str]:
    """That of a step, in which hfcount is installed already: this one."""
    known = {
        "PATH": os.environ["PATH"],
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "home"),
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_PATH": str(folder / "path"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "PYTHON": sys.executable,
        "GITHUB_ACTION_PATH": str(ACTION),
    }
    installed = folder / "temp" / f"hfcount-{run.digest()}"
    if not installed.exists():
        (installed / "bin").mkdir(parents=True)
        (installed / "bin" / "hfcount").symlink_to(Path(sys.executable).parent / "hfcount")
        (installed / "installed").touch()
    return known | more


def _step(folder: Path, models: str, arguments: str = "", **more: str) -> Step:
    given = _environment(folder, MODELS=models, ARGUMENTS=arguments, **more)
    command = [sys.executable, ACTION / "run.py", "verify"]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)
    summary = folder / "summary"
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    return Step(done.returncode, done.stdout, outputs, summary.read_text() if summary.exists() else "")


def test_verdicts_become_outputs_and_a_summary(tmp_path: Path) -> None:
    save_tiny(tmp_path / "good")
    step = _step(tmp_path, "\n  ./good\n\n")
    assert (step.code, step.outputs["verdict"], step.outputs["models"]) == (0, "verified", "1")
    assert "verified" in step.summary
    assert [json.loads(line)["model"] for line in Path(step.outputs["report"]).read_text().splitlines()] == ["./good"]
    assert Path((tmp_path / "path").read_text().strip()).joinpath("hfcount").exists()


def test_a_mismatch_fails_the_step_and_is_annotated(tmp_path: Path) -> None:
    save_tiny(tmp_path / "good")
    save_tiny(tmp_path / "bad")
    (tmp_path / "bad" / "config.json").write_text(json.dumps(config("llama", num_hidden_layers=4)))
    step = _step(tmp_path, "./good ./bad", SUMMARY="false")
    assert (step.code, step.outputs["verdict"], step.outputs["mismatches"]) == (1, "mismatch", "1")
    assert "::error file=bad/" in step.out
    assert step.summary == ""


def test_each_step_of_a_job_has_a_report_of_its_own(tmp_path: Path) -> None:
    save_tiny(tmp_path / "good")
    first, second = (_step(tmp_path, models).outputs["report"] for models in ("good", "good ./good"))
    assert [len(Path(path).read_text().splitlines()) for path in (first, second)] == [1, 2]


def test_words_patterns_and_quotes_are_a_shells(tmp_path: Path) -> None:
    for name in ("checkpoints/a", "checkpoints/b c", "some fixtures/m"):
        save_tiny(tmp_path / name)
    (tmp_path / "checkpoints" / "README.md").touch()
    step = _step(tmp_path, "# all of them\ncheckpoints/* 'checkpoints/b c'", "--depth headers\n--strict")
    assert (step.code, step.outputs["verdict"], step.outputs["models"]) == (0, "verified", "3")
    step = _step(tmp_path, "m", '--fixtures "some fixtures"')
    assert (step.code, step.outputs["verdict"]) == (0, "verified")


WORDS = {
    "a b\n c ": (["a", "b", "c"], ["a", "b", "c"]),
    "'a b' \"c d\"": (["a b", "c d"], ["a b", "c d"]),
    "# a\n  # b 'c\nd#e": (["d#e"], ["d#e"]),
    r"a\ b": (["a b"], ["a\\", "b"]),
    r".\a\b": ([".ab"], [r".\a\b"]),
    r"'C:\a b\c'": ([r"C:\a b\c"], [r"C:\a b\c"]),
    "": ([], []),
}
"""What is written, and the words of it: on Linux and macOS, and on Windows."""


@over("text", WORDS)
def test_words_are_those_of_the_system(text: str) -> None:
    assert tuple(run.words(text, windows) for windows in (False, True)) == WORDS[text]


def test_commands_stand_where_each_system_has_them() -> None:
    assert run.script("e", "hfcount", windows=False) == os.path.join("e", "bin", "hfcount")
    assert run.script("e", "hfcount", windows=True) == os.path.join("e", "Scripts", "hfcount.exe")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_run_as_a_command(tmp_path: Path, name: str) -> None:
    quoted = f'"{name}"' if "'" in name else f"'{name}'"
    step = _step(tmp_path, f"{quoted}x {quoted}")
    assert (step.code, step.outputs["verdict"], step.outputs["models"]) == (3, "unverified", "2")
    assert not (tmp_path / "pwned").exists()
    assert [line for line in step.out.splitlines() if re.match(r"\s*::(?!warning )", line)] == []


@pytest.mark.parametrize("models", ["", "# a", "'a", 'a\n"::error::b\n##[error]'])
def test_nothing_to_verify_is_wrong_usage(tmp_path: Path, models: str) -> None:
    step = _step(tmp_path, models)
    assert (step.code, step.outputs) == (2, {"verdict": "unverified", "models": "0", "mismatches": "0", "report": ""})
    assert [line for line in step.out.splitlines() if "##[" in line or not line.startswith("::error title=")] == []


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_what_the_steps_run_any_shell_understands(tmp_path: Path, shell: tuple[str, ...]) -> None:
    save_tiny(tmp_path / "a model")
    (tmp_path / "the action").symlink_to(ACTION)
    steps = yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]
    given = _environment(tmp_path, MODELS="'a model'", GITHUB_ACTION_PATH=str(tmp_path / "the action"))
    for text in (step["run"] for step in steps if "run" in step):
        subprocess.run([*shell, "-c", text], cwd=tmp_path, env=given, check=True, capture_output=True)
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert outputs["verdict"] == "verified"
    assert outputs["key"].startswith("hfcount-pip-")
    assert {*re.findall(r"steps\.prepare\.outputs\.(\w+)", json.dumps(steps))} <= {*outputs}


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
