"""Every example of the pages is run: commands against a loopback Hub, Python in one namespace a page, YAML as it is."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf_files
import pytest
import yaml
from address import OWNED
from blocks import ROOT
from build import TINY, save_tiny
from forking import Forks
from loopback import Hub, write_checkpoint
from readme import PAGES

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.mapper import Config
from hfcount.version import REPOSITORY

BY_HAND = ("python3 -m venv", "git ", "cp ", "pre-commit ", "printf ", "hf ", "docker ", "mkdir ")
"""Commands that need the network, another tool or another repository begin so."""

BY_OTHERS = {
    "adapters.md": "docs/test_adapters_page.py",
    "before-saving.md": "docs/test_recipes.py",
    "data.md": "checkpoints/test_data.py",
    "diff.md": "diffing/test_diff.py",
    "drafts.md": "docs/test_drafts_page.py",
    "fix.md": "docs/test_fix_page.py",
    "lock.md": "docs/test_lock_page.py",
    "recipes.md": "docs/test_recipes_page.py",
    "saves.md": "docs/test_saves_page.py",
    "saving.md": "api/test_callback.py",
    "sweep.md": "docs/test_sweep_page.py",
}
"""Pages whose examples need more than this, and the tests that run them."""

MODELS = ("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3-235B-A22B")


def blocks(page: Path, language: str) -> list[str]:
    """The examples of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def commands() -> Iterator[str]:
    """What the pages say to type, without remarks and what follows a pipe or `&&`."""
    for page in PAGES:
        for line in "\n".join(blocks(page, "sh")).splitlines():
            if page.name not in BY_OTHERS and line and not line.startswith(BY_HAND):
                words = shlex.split(line, comments=True)
                ends = [words.index(one) for one in ("|", "&&") if one in words]
                yield shlex.join(words[: min(ends, default=len(words))])


def saved_gguf(folder: Path) -> Path:
    """A folder with a GGUF file in two types."""
    folder.mkdir()
    pairs, shapes = gguf_files.model()
    for kind in ("F16", "Q8_0"):
        file = gguf_files.source(pairs, gguf_files.laid_out(shapes, {"token_embd.weight": kind}))
        (folder / f"model-{kind}.gguf").write_bytes(file(0, file.size))
    return folder


def saved_base(folder: Path) -> Path:
    """The model that they were made of, as far as it is read."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(gguf_files.CONFIG))
    return folder


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with checkpoints as the examples call them, and a Hub that has the models that they name."""
    hub, here, hosted = Hub(), tmp_path_factory.mktemp("desk"), tmp_path_factory.mktemp("hosted")
    for server in (hub, hub.cdn):
        server.start()
    for name in ("my-checkpoint", "my-model"):
        save_tiny(here / name)
    save_tiny(here / "checkpoints" / "one")
    (here / "models.txt").write_text("./my-checkpoint  # a folder\n")
    for name in MODELS:
        config = json.loads((ROOT / "fixtures" / name / "config.json").read_text())
        hub.publish(name, write_checkpoint(hosted / name, config))
        hub.publish(name, hosted / name, "refs/pr/1")
    for kind in ("F32", "Q4_K_M"):
        (here / f"model-{kind}.gguf").write_bytes(gguf_files.whole(*gguf_files.model()))
    halves = {"blk.0.attn_q.weight.lora_a": (8, 64), "blk.0.attn_q.weight.lora_b": (96, 8)}
    (here / "lora.gguf").write_bytes(gguf_files.whole(gguf_files.LORA, halves))
    hub.publish("org/name-GGUF", saved_gguf(hosted / "gguf"))
    hub.publish("org/base", saved_base(hosted / "base"))
    hub.publish("org/name", save_tiny(hosted / "tiny"))
    hub.publish("org/name", hosted / "tiny", "refs/pr/1")
    yield here, os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(here / "home"), "PYTHONPATH": str(ROOT)}
    for server in (hub, hub.cdn):
        server.stop()


LINES = [pytest.param(line, marks=[pytest.mark.long] * (n % 3 > 0)) for n, line in enumerate(dict.fromkeys(commands()))]


@pytest.mark.parametrize("line", LINES)
def test_commands_run(desk: tuple[Path, dict[str, str]], _forks: Forks, line: str) -> None:
    here, environment = desk
    name, *given = shlex.split(line)
    assert name in ("hfcount", "hf-count")
    if "--offline" in given:  # it reads what an earlier run has kept
        _forks.run([one for one in given if one != "--offline"], here, environment, 600)
    if {"--plot", "--html"} & {*given}:
        pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[plot,html]'")
    words = [one.replace("https://huggingface.co", environment["HF_ENDPOINT"]) for one in given]
    code, out, err = _forks.run(words, here, environment, 600)
    assert (code, err) == (0, "")
    assert out


class LlamaForCausalLM:
    """Stands for a model of transformers where a page has one."""

    dtype = "torch.bfloat16"

    def __init__(self) -> None:
        self.config = SimpleNamespace(to_dict=lambda: dict(TINY["llama"]), model_type="llama")

    def parameters(self) -> list[Any]:
        return []

    def state_dict(self, keep_vars: bool = False) -> dict[str, Any]:
        return {one.name: (one.shape, "BF16") for one in hfcount.blueprint(TINY["llama"]).tensors()}


@pytest.mark.parametrize("name", ["README.md", "python.md"])
def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (page,) = (one for one in PAGES if one.name == name)
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    code = "".join(blocks(page, "python"))
    assert code
    exec(compile(code, name, "exec"), {"model": LlamaForCausalLM()})


def test_every_python_example_is_run_by_a_test() -> None:
    with_python = {page.name for page in PAGES if blocks(page, "python")}
    assert with_python - BY_OTHERS.keys() == {"README.md", "python.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in BY_OTHERS], ids=lambda page: page.name)
def test_others_run_what_is_left_to_them(page: Path) -> None:
    assert f'"{page.name}"' in (ROOT / "tests" / BY_OTHERS[page.name]).read_text()


def test_the_family_step_by_step_is_one() -> None:
    (page,) = (one for one in PAGES if one.name == "CONTRIBUTING.md")
    code, sized, *_ = blocks(page, "python")
    family: dict[str, Any] = {}
    exec(compile(code, page.name, "exec"), family)
    values = TINY["llama"] | {"model_type": "tandem", "qkv_bias": True}
    config = Config(values)
    spec = family["spec"](config)
    rows = [row.name for row in Blueprint(spec, family["blueprint"](spec)).rows()]
    assert family["MODEL_TYPES"] == ("tandem",)
    assert [row for row in rows if "norm" in row] == ["model.layers.{0-2}.input_layernorm.weight", "model.norm.weight"]
    assert "model.layers.{0-2}.self_attn.q_proj.bias" in rows
    exec(compile(sized, page.name, "exec"), family)
    own = family["spec"](Config(values | {"window": 5, "widths": [1, 2], "gated": True})).own
    assert (own.window, own.rank, own.gated, own.widths) == (5, None, True, (1, 2))


def _yaml() -> Iterator[Any]:
    for page in PAGES:
        for text in blocks(page, "yaml"):
            yield yaml.safe_load(text)


def _each(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """Every object with a key, however deep."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for one in value.values():
            yield from _each(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _each(one, key)


def test_the_action_is_used_as_it_is() -> None:
    action = yaml.safe_load((ROOT / ".github" / "actions" / "hfcount" / "action.yml").read_text())
    used = [step for text in _yaml() for step in _each(text, "uses") if "/actions/hfcount" in step["uses"]]
    assert len(used) >= 2
    assert {step["uses"] for step in used} == {f"{OWNED}/.github/actions/hfcount@v{hfcount.__version__}"}
    for step in used:
        assert step["with"].keys() <= action["inputs"].keys()
        assert {name for name, one in action["inputs"].items() if one.get("required")} <= step["with"].keys()
    outputs = re.findall(r"steps\.hfcount\.outputs\.(\w+)", "".join(page.read_text() for page in PAGES))
    assert {*outputs} <= action["outputs"].keys()


def test_the_hook_is_used_as_it_is() -> None:
    hook, locked = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    repos = [repo for text in _yaml() for repo in _each(text, "hooks")]
    assert {repo["repo"]: repo.get("rev") for repo in repos} == {REPOSITORY: f"v{hfcount.__version__}", "local": None}
    used = [one for repo in repos for one in repo["hooks"]]
    assert {one["id"] for one in used} == {hook["id"], locked["id"]}
    (local,) = (one for one in used if "entry" in one and one["id"] == hook["id"])
    assert {key: hook[key] for key in ("entry", "files", "require_serial")} == {
        key: local[key] for key in ("entry", "files", "require_serial")
    }
