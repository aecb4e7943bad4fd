"""The recipes of before-saving.md, with models of transformers: what is right is saved, what is not is stopped."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from build import TINY
from readme import DOCS
from test_pages import blocks

import hfcount

REASON = "the oracle is not installed; `pip install -e '.[oracle]'` brings it"
torch = pytest.importorskip("torch", reason=REASON)
transformers = pytest.importorskip("transformers", reason=REASON)

SAVE, CALLBACK, OTHERS = blocks(DOCS / "before-saving.md", "python")


def _model(model_type: str = "llama", kind: str = "AutoModelForCausalLM", **changes: Any) -> Any:
    values = {key: value for key, value in TINY[model_type].items() if key not in ("architectures", "model_type")}
    config = transformers.AutoConfig.for_model(model_type, **(values | changes))
    return getattr(transformers, kind).from_config(config)


def _spoiled() -> Any:
    """Two tokens were added to the embedding, and not by resize_token_embeddings."""
    model = _model()
    rows, width = model.model.embed_tokens.weight.shape
    model.model.embed_tokens = torch.nn.Embedding(rows + 2, width, dtype=torch.bfloat16)
    return model


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _run(*codes: str, **names: Any) -> dict[str, Any]:
    for code in codes:
        exec(compile(code, "before-saving.md", "exec"), names)
    return names


@pytest.mark.parametrize(
    ("model_type", "kind"),
    [
        ("llama", "AutoModelForCausalLM"),
        ("qwen3", "AutoModelForSequenceClassification"),
        ("qwen3_moe", "AutoModelForCausalLM"),
        ("mixtral", "AutoModelForCausalLM"),
    ],
)
def test_a_model_that_is_its_config_is_saved(model_type: str, kind: str) -> None:
    _run(SAVE, model=_model(model_type, kind))
    report = hfcount.verify(Path("my-model"))
    assert report.ok
    assert report.architecture == json.loads(Path("my-model/config.json").read_text())["architectures"][0]


def test_a_model_that_is_not_is_stopped_before_it_is_saved() -> None:
    with pytest.raises(hfcount.NotVerified, match="HF301"):
        _run(SAVE, model=_spoiled())
    assert not Path("my-model").exists()


def test_the_callback_stops_before_the_first_step_and_after_a_save_that_went_wrong() -> None:
    names = _run(SAVE, CALLBACK, model=_model())
    callback, arguments, state = names["Verified"](), SimpleNamespace(output_dir="."), SimpleNamespace(global_step=7)
    handler = transformers.trainer_callback.CallbackHandler([callback], names["model"], None, None, None)
    control = transformers.TrainerControl()
    handler.on_train_begin(arguments, state, control)
    names["model"].save_pretrained("checkpoint-7")
    handler.on_save(arguments, state, control)
    shard = Path("checkpoint-7/model.safetensors")
    shard.write_bytes(shard.read_bytes()[:-10])
    with pytest.raises(hfcount.NotVerified, match="HF004"):
        handler.on_save(arguments, state, control)
    handler.model = _spoiled()
    with pytest.raises(hfcount.NotVerified, match="HF301"):
        handler.on_train_begin(arguments, state, control)


def test_a_trainer_takes_the_callback() -> None:
    pytest.importorskip("accelerate", reason=REASON)
    model = _model(head_dim=4)  # rotary positions need an even width
    data = [{"input_ids": torch.tensor([1, 2, 3]), "labels": torch.tensor([1, 2, 3])}] * 2
    arguments = transformers.TrainingArguments("out", max_steps=1, save_steps=1, report_to=[], use_cpu=True)
    trained = _run(SAVE, CALLBACK, model=model)["Verified"]()
    transformers.Trainer(model, arguments, train_dataset=data, callbacks=[trained]).train()
    assert hfcount.verify(Path("out/checkpoint-1")).ok
    with pytest.raises(hfcount.NotVerified, match="HF301"):
        transformers.Trainer(_spoiled(), arguments, train_dataset=data, callbacks=[trained]).train()


def test_what_has_a_shape_and_a_dtype_is_a_tensor() -> None:
    _run(OTHERS, hfcount=hfcount)
