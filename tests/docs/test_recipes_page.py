"""The recipes: each is run with the library that it names, where that is installed, and stops what is wrong."""

import json
import os
import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from damaged import says, sound
from forking import Forks
from paths import ROOT

import hfcount

PAGE = ROOT / "hfcount" / "docs" / "recipes.md"
ORACLE = "the oracle is not installed; `pip install -e '.[oracle]'` brings it"
SIZES = {
    "vocab_size": 64,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
WORDS = {f"w{number}": number for number in range(SIZES["vocab_size"])}
of_libraries = pytest.mark.filterwarnings("ignore")
"""Warnings of the libraries are not the recipe's."""


def block(title: str, language: str) -> str:
    """The example of a section."""
    section = PAGE.read_text().partition(f"\n## {title}")[2].partition("\n## ")[0]
    (text,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return text


def run(title: str, **names: Any) -> dict[str, Any]:
    """Runs the example with these names, and returns all that it has then."""
    exec(compile(block(title, "python"), f"recipes.md, {title}", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def model(seed: int = 0) -> Any:
    torch = pytest.importorskip("torch", reason=ORACLE)
    transformers = pytest.importorskip("transformers", reason=ORACLE)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(**SIZES, dtype="bfloat16", pad_token_id=0, bos_token_id=1, eos_token_id=2)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


def saved(folder: str, seed: int = 0) -> Any:
    """A model, loaded from a folder with its tokenizer."""
    import transformers

    model(seed).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")


def tokenizer() -> Any:
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel(WORDS, unk_token="w0"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"unk_token": "w0", "pad_token": "w0", "bos_token": "w1", "eos_token": "w2"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special)


@pytest.mark.long
@of_libraries
@pytest.mark.parametrize("adapted", [False, True])
def test_a_trainer_of_trl_verifies_each_checkpoint(adapted: bool, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("trl", reason="pip install trl")
    from datasets import Dataset
    from peft import LoraConfig
    from trl import SFTConfig

    caplog.set_level("INFO", "hfcount")
    args = SFTConfig("trained", max_steps=2, save_steps=1, report_to=[], use_cpu=True, bf16=False)
    peft_config = LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM") if adapted else None
    dataset = Dataset.from_dict({"input_ids": [[3, 4, 5, 6]] * 4})
    run("TRL", model=model(), args=args, dataset=dataset, tokenizer=tokenizer(), peft_config=peft_config)
    said = [record.getMessage() for record in caplog.records]
    assert said[-2:] == [f"trained{os.sep}checkpoint-{step}: verified" for step in (1, 2)]
    assert Path("trained/checkpoint-2/adapter_config.json").exists() is adapted


@pytest.mark.long
@of_libraries
@pytest.mark.parametrize(("changes", "merges"), [({"init_lora_weights": False}, True), ({}, False)])
def test_an_adapter_is_merged_or_the_recipe_says_that_it_is_not(changes: dict[str, Any], merges: bool) -> None:
    """The second matrices of a new adapter are zero, so that it changes nothing."""
    peft = pytest.importorskip("peft", reason=ORACLE)
    settings = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM", **changes)
    peft.get_peft_model(saved("base"), settings).save_pretrained("adapter")
    if merges:
        assert run("PEFT")["result"].expectation.met
    else:
        with pytest.raises(SystemExit, match="q_proj"):
            run("PEFT")


def assert_quantised(folder: str) -> None:
    """It is verified, and its weights take less than they did."""
    report, base = hfcount.verify(folder), hfcount.verify("base")
    assert "quantization_config" in json.loads(Path(folder, "config.json").read_text())
    assert report.verdict == "verified"
    assert report.memory.weights_bytes < base.memory.weights_bytes


@pytest.mark.long
@of_libraries
def test_what_llm_compressor_saves_is_verified() -> None:
    pytest.importorskip("llmcompressor", reason="pip install llmcompressor, in an environment of its own")
    run("llm-compressor", model=saved("base"))
    assert_quantised("quantised")


@pytest.mark.long
@of_libraries
def test_what_gptqmodel_saves_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPTQMODEL_CPU_WORKERS", "2")
    pytest.importorskip("gptqmodel", reason="pip install gptqmodel, in an environment of its own")
    saved("base")
    run("GPTQModel", texts=[" ".join(f"w{(7 * row + column) % 61 + 3}" for column in range(40)) for row in range(16)])
    assert_quantised("quantised")


MERGE = {
    "models": [{"model": f"./{name}", "parameters": {"weight": 0.5}} for name in ("one", "other")],
    "merge_method": "linear",
    "dtype": "bfloat16",
}


@pytest.mark.long
@of_libraries
def test_a_merge_is_verified_before_and_after(_forks: Forks, tmp_path: Path) -> None:
    pytest.importorskip("mergekit.merge", reason="pip install mergekit")
    saved("one", 1)
    saved("other", 2)
    Path("merge.yml").write_text(json.dumps(MERGE))
    for line in block("mergekit", "sh").splitlines():
        name, *words = shlex.split(line)
        if name == "hfcount":
            assert _forks.run(words, tmp_path, os.environ, 600)[0] == 0
        else:
            assert name == "mergekit-yaml"
            subprocess.run([sys.executable, "-m", "mergekit.scripts.run_yaml", *words], check=True)
    assert Path("merged/model.safetensors").read_bytes() != Path("one/model.safetensors").read_bytes()


# What starts a model


def gated(forks: Forks, words: list[str], folder: Path) -> int:
    """How `hfcount` ends with these words, for a checkpoint in a folder of /models."""
    return forks.run([word.replace("/models", str(folder)) for word in words], folder, os.environ, 600)[0]


@pytest.mark.parametrize(("change", "code"), [({}, 0), ({"vocab_size": 51}, 1)])
def test_a_pod_and_a_service_start_what_is_sound(
    change: dict[str, int], code: int, tmp_path: Path, _forks: Forks
) -> None:
    says(**change)(sound(tmp_path / "my-model", num_key_value_heads=2, num_attention_heads=4))
    pod = yaml.safe_load(block("Kubernetes", "yaml"))["spec"]
    (init,), (engine,) = pod["initContainers"], pod["containers"]
    assert gated(_forks, init["args"], tmp_path) == code
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign] # as typeshed's own examples have it
    unit.read_string(block("systemd", "ini"))
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStartPre"])
    assert (Path(program).name, gated(_forks, words, tmp_path)) == ("hfcount", code)
    for asked, started in ((init["args"], engine["args"]), (words, shlex.split(service["ExecStart"]))):
        assert asked[1] in started
        assert asked[asked.index("--tp") + 1] == started[started.index("--tensor-parallel-size") + 1]


def test_a_job_of_gitlab_fails_for_another_file(tmp_path: Path, _forks: Forks) -> None:
    folder = sound(tmp_path / "my-checkpoint")
    assert _forks.run(["lock", "./my-checkpoint"], tmp_path, os.environ, 600)[0] == 0
    job = yaml.safe_load(block("CI, with a lock", "yaml"))["checkpoint"]
    lines = [shlex.split(line)[1:] for line in job["script"] if line.startswith("hfcount ")]
    assert [_forks.run(words, tmp_path, os.environ, 600)[0] for words in lines] == [0, 0]
    assert all((tmp_path / file).exists() for file in job["artifacts"]["reports"].values())
    says(rope_theta=5.0)(folder)
    assert [_forks.run(words, tmp_path, os.environ, 600)[0] for words in lines] == [1, 0]
