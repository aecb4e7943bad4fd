"""The callback for trainers: what it says of each checkpoint, what follows, and what it never does."""

import json
import logging
import os
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from defects import adapter
from readme import DOCS
from test_pages import blocks
from valued import UP, VALUED, filled, put

import hfcount

TRAINER, OTHER = blocks(DOCS / "saving.md", "python")
SOUND = VALUED["sound values"]
SPOIL = put(UP, 7, 0x7FC0)


def _saved(callback: hfcount.VerifyCallback, output: Path, main: bool = True, step: int = 7, model: Any = None) -> Any:
    control = SimpleNamespace(should_training_stop=False)
    state = SimpleNamespace(global_step=step, is_world_process_zero=main)
    callback.on_save(SimpleNamespace(output_dir=str(output)), state, control, model=model)
    return control


@pytest.mark.parametrize(("how", "stops"), [("warn", False), ("stop", True)])
def test_a_wrong_checkpoint_is_logged_and_may_end_the_training(
    how: Any, stops: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "hfcount")
    callback = hfcount.VerifyCallback(how)
    folder = SOUND.write(tmp_path / "checkpoint-7")
    assert not _saved(callback, tmp_path).should_training_stop
    SPOIL(folder)
    assert _saved(callback, tmp_path).should_training_stop is stops
    assert not _saved(callback, tmp_path, main=False).should_training_stop
    sound, wrong = caplog.records
    assert (sound.levelname, sound.getMessage()) == ("INFO", f"{folder}: verified")
    assert wrong.levelname == "WARNING"
    assert "HF901" in wrong.getMessage()


def test_a_wrong_checkpoint_may_raise(tmp_path: Path) -> None:
    SPOIL(SOUND.write(tmp_path / "run-1" / "checkpoint-7"))  # of a search for hyperparameters
    seen: list[Any] = []
    callback = hfcount.VerifyCallback("raise", on_report=lambda folder, report: seen.append((folder, report.verdict)))
    with pytest.raises(hfcount.NotVerified, match="HF901"):
        _saved(callback, tmp_path)
    assert seen == [(tmp_path / "run-1" / "checkpoint-7", "mismatch")]
    assert _saved(hfcount.VerifyCallback("stop", depth="headers"), tmp_path).should_training_stop is False


@pytest.mark.parametrize(("file", "text"), [
    ("pytorch_model_fsdp_0/__0_0.distcp", "accelerate merge-weights"),
    ("global_step7/zero_pp_rank_0_mp_rank_00_model_states.pt", "zero_to_fp32.py"),
    ("rng_state.pth", "checkpoint-7 has n"),
    (None, "checkpoint-7"),
])  # fmt: skip
@pytest.mark.parametrize(("how", "config"), [("stop", True), ("raise", False)])
def test_what_cannot_be_looked_at_ends_nothing(
    how: Any, config: bool, file: str | None, text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if file:
        folder = SOUND.write(tmp_path / "checkpoint-7")
        for one in folder.glob("model*" if config else "*"):
            one.unlink()
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).touch()
        if "zero" in file:
            (folder / "zero_to_fp32.py").touch()
    assert not _saved(hfcount.VerifyCallback(how), tmp_path).should_training_stop
    (warning,) = caplog.records
    assert warning.getMessage().count("verified") == 1
    assert text in warning.getMessage()


def test_a_mistake_of_hfcount_ends_no_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise KeyError("lost")

    SOUND.write(tmp_path / "checkpoint-7")
    monkeypatch.setattr("hfcount.api.callback.verify", crash)
    assert not _saved(hfcount.VerifyCallback("raise"), tmp_path).should_training_stop
    (warning,) = caplog.records
    assert "checkpoint-7 was not verified, for hfcount crashed." in warning.getMessage()


def test_where_a_base_cannot_be_written_the_training_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    SOUND.write(tmp_path / "checkpoint-7")
    config = SimpleNamespace(to_dict=lambda: {"model_type": "llama"})
    base = SimpleNamespace(config=config, dtype="torch.bfloat16")
    monkeypatch.setattr("hfcount.api.callback.TemporaryDirectory", full)
    model = SimpleNamespace(peft_config={"default": ...}, get_base_model=lambda: base)
    assert not _saved(hfcount.VerifyCallback("raise"), tmp_path, model=model).should_training_stop
    (warning,) = caplog.records
    assert "checkpoint-7 was not verified" in warning.getMessage()
    assert warning.exc_info


def test_wrong_arguments_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="must be one of warn, stop, raise"):
        hfcount.VerifyCallback("halt")  # type: ignore[arg-type]  # a wrong argument is the test
    with pytest.raises(TypeError, match="dept"):
        hfcount.VerifyCallback(dept="data")
    assert hfcount.VerifyCallback().on_step_end(None, None, None) is None
    assert not hasattr(hfcount.VerifyCallback(), "step")


def test_the_page_s_lines_for_other_trainers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SOUND.write(tmp_path / "checkpoint")
    monkeypatch.chdir(tmp_path)
    code = compile(OTHER, "saving.md", "exec")
    exec(code, {"hfcount": hfcount})
    SPOIL(folder)
    with pytest.raises(hfcount.NotVerified, match="HF901"):
        exec(code, {"hfcount": hfcount})


@pytest.mark.parametrize(("hidden", "codes"), [(12, []), (16, ["HF725"])])
def test_an_adapter_is_held_against_the_model_in_memory(hidden: int, codes: list[str], tmp_path: Path) -> None:
    checkpoint = adapter()
    config = checkpoint.config | {"hidden_size": hidden}
    folder = checkpoint.write(tmp_path / "checkpoint-7")
    (folder / "config.json").unlink()
    filled(folder / "adapter_model.safetensors", 3)
    base = type(config["architectures"][0], (), {"dtype": "torch.bfloat16"})()
    base.config = SimpleNamespace(to_dict=lambda: config)
    model = SimpleNamespace(peft_config={"default": ...}, get_base_model=lambda: base)
    seen: list[Any] = []
    callback = hfcount.VerifyCallback(on_report=lambda _, report: seen.append([one.code for one in report.findings]))
    _saved(callback, tmp_path, model=model)
    assert seen == [codes]


PROCESS = """
import sys
from types import SimpleNamespace
import torch, hfcount
rank, output, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
state = SimpleNamespace(global_step=7, is_world_process_zero=rank == 0)
control = SimpleNamespace(should_training_stop=False)
hfcount.VerifyCallback("stop").on_save(SimpleNamespace(output_dir=output), state, control)
print(control.should_training_stop)
"""


@pytest.mark.long
@pytest.mark.parametrize("spoilt", [False, True])
def test_all_processes_stop_together(spoilt: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the oracle is not installed: pip install '.[oracle]'")
    folder = SOUND.write(tmp_path / "checkpoint-7")
    if spoilt:
        SPOIL(folder)
    command = [sys.executable, "-c", PROCESS]
    both = [
        subprocess.Popen([*command, str(rank), tmp_path, tmp_path / "group"], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    assert [one.communicate()[0].split() for one in both] == [[str(spoilt)]] * 2


@pytest.mark.long
@pytest.mark.parametrize("spoilt", [False, True])
def test_a_real_trainer_stops_at_the_first_wrong_checkpoint(spoilt: bool, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the oracle is not installed: pip install '.[oracle]'")
    transformers = pytest.importorskip("transformers", reason="the oracle is not installed: pip install '.[oracle]'")

    class Spoil(transformers.TrainerCallback):  # type: ignore[misc,name-defined]  # mypy cannot see an optional library
        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if spoilt and state.global_step == 2:
                model.model.layers[1].mlp.up_proj.weight.data[3, 4] = torch.nan

    sizes = dict.fromkeys(("num_hidden_layers", "num_attention_heads"), 2)
    config = transformers.LlamaConfig(vocab_size=50, hidden_size=8, intermediate_size=12, **sizes)
    often: dict[str, Any] = {"max_steps": 4, "save_steps": 1, "logging_strategy": "no"}
    args = transformers.TrainingArguments(tmp_path, report_to=[], use_cpu=True, disable_tqdm=True, **often)
    data = [{"input_ids": torch.arange(6), "labels": torch.arange(6)}] * 4
    seen: list[Any] = []
    names = {"model": transformers.LlamaForCausalLM(config), "args": args, "data": data}
    code = TRAINER.replace('("stop")', '("stop", on_report=note)').replace(
        "trainer.train()", "trainer.add_callback(Spoil)\n"
    )
    names |= {"note": lambda folder, report: seen.append((folder and folder.name, report.verdict)), "Spoil": Spoil}
    exec(compile(code + "trainer.train()", "saving.md", "exec"), names)
    steps = 2 if spoilt else 4
    expected = [(None, "verified"), *((f"checkpoint-{step}", "verified") for step in range(1, steps + 1))]
    assert seen == (expected if not spoilt else [*expected[:-1], ("checkpoint-2", "mismatch")])
    assert json.loads((tmp_path / f"checkpoint-{steps}" / "trainer_state.json").read_text())["global_step"] == steps
