"""Following the page of contributors for an architecture that transformers does not have ends green, without torch."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")

# Judges that a contributor with the extra `test` alone does not have.
HIDE = """
from importlib.machinery import PathFinder

_find = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, path=None, target=None: (
        None if name.partition(".")[0] in ("torch", "transformers") else _find(name, path, target)
    )
)
"""

CONFIG = {
    "model_type": "tandem",
    "architectures": ["TandemForCausalLM"],
    "hidden_size": 96,
    "intermediate_size": 208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "num_hidden_layers": 3,
    "vocab_size": 1009,
    "qkv_bias": True,
    "tie_word_embeddings": False,
}
# Of each layer: q and o, k and v, their biases, the feed-forward's three, the norm.
_LAYER = 2 * 96 * 96 + 2 * 96 * 48 + 2 * (96 + 48) + 3 * 96 * 208 + 96
CASE = """\
    "a file with no tensor": Case(
        "mismatch", "HF011 HF201", ("no tensor",), make=single, spoil=lambda one: one.shards.update({SINGLE: {}})
    ),
"""
PUBLISHED = 2 * 1009 * 96 + 3 * _LAYER + 96


def test_what_the_page_names_is_there() -> None:
    """Tools, tests, folders and options."""
    named = re.findall(r"(?:python|pytest|pytest -n 0) ((?:tests/[\w/]+\.py ?)+)([^`]*)", PAGE)
    files = [one for given, _ in named for one in given.split()]
    assert {"tests/tools/update.py", "tests/tools/record.py", "tests/tools/guard.py"} <= {*files}
    assert [one for one in files if not (ROOT / one).exists()] == []
    for given, rest in named:
        text = (ROOT / given.split()[-1]).read_text(encoding="utf-8") if "tools" in given else ""
        options = re.findall(r"--\w+", rest) if text else []
        assert [option for option in options if f'"{option}"' not in text] == [], given


@pytest.mark.long
def test_an_architecture_step_by_step(tmp_path: Path) -> None:
    copy, hidden = tmp_path / "copy", tmp_path / "hidden"
    for name in ("hfcount", "fixtures", "tests", ".github", ".ci"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "pyproject.toml", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, copy)
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDE)

    def run(*words: str) -> str:
        path = os.pathsep.join(map(str, (hidden, copy)))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}  # a run of its own
        done = subprocess.run(
            [sys.executable, *words], cwd=copy, env=kept | {"PYTHONPATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    family, *others = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (copy / "hfcount" / "architectures" / "models" / "tandem.py").write_text(family)
    (finding,) = (one for one in others if "NEEDS" in one)
    (copy / "hfcount" / "verifier" / "rules" / "standalone" / "hf011_empty_file.py").write_text(finding)
    cases = (copy / "tests" / "support" / "defects.py").read_text(encoding="utf-8")
    (copy / "tests" / "support" / "defects.py").write_text(
        cases.replace("    # Names\n", f"{CASE}    # Names\n", 1), encoding="utf-8"
    )
    (copy / "config.json").write_text(json.dumps(CONFIG))
    run("tests/tools/record.py", "config.json", "--published", str(PUBLISHED), "--source", "https://example.org/tandem")
    said = run("tests/tools/update.py").split()
    assert {*said} >= {
        "fixtures/reports.json",
        "hfcount/architectures/catalogue.json",
        "hfcount/docs/architectures.md",
        "hfcount/docs/findings.md",
    }
    assert "passed" in run("-m", "pytest", "-n", "0", "-m", "", "-k", "tandem")
    cases = ("test_every_rule_has_a_case", "test_on_disk[a file with no tensor]")
    assert "passed" in run("-m", "pytest", "-n", "0", *(f"tests/verifier/test_defects.py::{name}" for name in cases))
    touched = (
        "verifier/test_findings",
        "architectures/test_registry",
        "cli/test_architectures_command",
        "test_guard",
        "test_readme",
        "report/test_report_schema",
        "mapper/test_reference",
    )
    assert "passed" in run("-m", "pytest", "-n", "2", "-m", "not long", *(f"tests/{name}.py" for name in touched))
