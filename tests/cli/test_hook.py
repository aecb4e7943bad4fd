"""The hook of pre-commit: which checkpoints changed files belong to, what is printed, how it ends."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import gguf_files
import pytest
import yaml
from build import config, save_tiny
from conftest import Result
from defects import adapter
from paths import ROOT
from tables import over

from hfcount.cli.hook import command as entry
from hfcount.cli.output import ended

HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with checkpoints, and with much that is called alike and is none."""
    for name in (
        "good",
        "my models/bad",
        ".cache/bad",
        "node_modules/x/bad",
        "st",
        "st/1_Dense",
        "st/notes",
        "old/0_Any",
    ):
        save_tiny(tmp_path / name)
    bad = json.dumps(config("llama", num_hidden_layers=4))
    for name in ("my models/bad", ".cache/bad", "node_modules/x/bad"):
        (tmp_path / name / "config.json").write_text(bad)
    (tmp_path / "st" / "modules.json").write_text("[]")
    module = {"name": "0", "path": "0_Any", "type": "sentence_transformers.models.Transformer"}
    (tmp_path / "old" / "modules.json").write_text(json.dumps([module]))
    (tmp_path / "st" / "1_Dense" / "config.json").write_text('{"in_features": 8}')
    for name, text in {
        "app": '{"port": 80}',
        "firmware": "[1]",
        "unet": '{"_class_name": "UNet"}',
        "plan": bad,
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)
    (tmp_path / "firmware" / "firmware.bin").touch()
    (tmp_path / "unet" / "diffusion_pytorch_model.safetensors").touch()
    save_tiny(tmp_path / "broken")
    (tmp_path / "broken" / "config.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    return tmp_path


Hook = Callable[..., Result]


@pytest.fixture
def hook(repository: Path, capsys: pytest.CaptureFixture[str]) -> Hook:
    """Runs `hfcount hook *args` in the repository."""

    def run(*args: str) -> Result:
        code = ended(lambda: entry.main(list(args), standalone_mode=False))
        return Result(code, *capsys.readouterr())

    return run


BELONGING = {
    "good/config.json": "good",
    "good/model.safetensors": "good",
    "old/0_Any/model.safetensors": "old",
    "./my models/bad/config.json": "my models/bad",
    "broken/config.json": "broken",
    "st/config.json": "st",
    "st/1_Dense/config.json": "st",
    "st/deleted/config.json": "st",
    ".cache/bad/config.json": "",
    "node_modules/x/bad/config.json": "",
    "app/config.json": "",
    "firmware/config.json": "",
    "unet/config.json": "",
    "plan/config.json": "",
    "nowhere/config.json": "",
}
"""Files, and the folder of the checkpoint that each belongs to."""


@over("file", BELONGING)
def test_a_file_belongs_to_the_nearest_checkpoint(hook: Hook, file: str) -> None:
    _, out, _ = hook(file)
    assert [line.partition(": ")[0] for line in out.splitlines()[:1]] == list(filter(None, [BELONGING[file]]))


def test_nothing_to_look_at_passes(hook: Hook) -> None:
    assert hook() == (0, "", "")
    assert hook("app/config.json", "plan/config.json") == (0, "", "")


def test_a_line_for_each_model_and_each_finding(hook: Hook) -> None:
    code, out, err = hook("good/config.json", "good/model.safetensors", "my models/bad/config.json")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["good:", "my", "my", "2"]
    assert re.match(r"my models/bad/config.json:\d+: error HF201 missing-tensor: ", lines[2])


def test_options_are_those_of_verify(hook: Hook) -> None:
    file = "my models/bad/config.json"
    assert hook("--allow", "HF201", file)[0] == 0
    assert hook("--depth", "headers", "--strict", "good/config.json")[0] == 0
    assert hook("--allow", "HF999", file)[0] == 2


@pytest.fixture
def lora(repository: Path) -> str:
    """A file of an adapter whose base is not here."""
    adapter(base_model_name_or_path="org/base").write(repository / "lora")
    (repository / "lora" / "config.json").unlink()
    return "lora/adapter_config.json"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ('depth = "index"', [], "the total size"),
        ('depth = "index"', ["--depth", "auto"], "shapes and sizes"),
        ('depth = "headers"', ["--depth", "index"], "the total size"),
    ],
)
def test_its_depth_goes_before_that_of_the_settings_file(
    hook: Hook, repository: Path, text: str, options: list[str], words: str
) -> None:
    (repository / "hfcount.toml").write_text(text)
    assert words in hook(*options, "good/config.json")[1]


def test_what_passes_passes_beside_an_adapter_without_its_base(hook: Hook, repository: Path, lora: str) -> None:
    bad = "my models/bad/config.json"
    assert [hook(*options, lora, bad)[0] for options in ([], ["--allow", "HF201"])] == [1, 0]
    listed = repository / "good" / "model.safetensors.index.json"
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"metadata": {}}))  # HF402, a note
    (repository / "hfcount.toml").write_text("strict = true")
    asked = ([], ["--no-strict"], ["--no-config"], ["--no-config", "--strict"])
    assert [hook(*options, lora, "good/config.json")[0] for options in asked] == [1, 0, 0, 1]


def test_adapters_gguf_files_and_pipelines_are_checkpoints(hook: Hook, repository: Path, lora: str) -> None:
    (repository / "gguf").mkdir()
    raw = gguf_files.whole(*gguf_files.model())
    (repository / "gguf" / "tiny.gguf").write_bytes(raw)
    (repository / "pipe").mkdir()
    (repository / "pipe" / "model_index.json").write_text('{"_class_name": "FluxPipeline", "vae": [null, null]}')
    code, out, _ = hook(lora, "gguf/tiny.gguf")
    assert (code, [line.partition(":")[0] for line in out.splitlines()[:2]]) == (0, ["lora", "gguf"])
    assert hook("pipe/model_index.json")[1].startswith("pipe: ")
    (repository / "gguf" / "tiny.gguf").write_bytes(raw[:-64])
    assert hook(lora, "gguf/tiny.gguf")[0] == 1


def test_the_checkpoint_may_be_the_repository(hook: Hook, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "my models" / "bad")
    code, out, _ = hook("config.json")
    assert (code, out.splitlines()[1].partition(":")[0]) == (1, "config.json")


@over(
    "file",
    [
        "adapter_config.json",
        "a/model_index.json",
        "a/b.gguf",
        "config.json",
        "a/model.safetensors.index.json",
        "a b/x-00001-of-00002.safetensors",
        "pytorch_model.bin",
    ],
)
def test_the_hook_asks_for_what_may_be_of_a_checkpoint(file: str) -> None:
    assert re.search(HOOK["files"], file)


@over("file", ["a/my_config.json", "config.json.bak", "README.md", "bin/tool", "index.json", "a.bins"])
def test_and_for_nothing_else(file: str) -> None:
    assert not re.search(HOOK["files"], file)
