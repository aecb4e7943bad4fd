"""verify_model: a model in memory is what it would save, fresh, wrapped, tied or not; what is refused, in words."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from build import TINY

import hfcount

REASON = "the oracle is not installed; `pip install -e '.[oracle]'` brings it"


class Linear:
    """A module without a config."""

    def state_dict(self) -> dict[str, Any]:
        return {}


def _with(name: str = "LlamaForCausalLM", **facts: Any) -> Any:
    config = SimpleNamespace(model_type="llama", to_dict=lambda: {"model_type": "llama"})
    own = {"config": config, "state_dict": dict, "parameters": list, "dtype": "torch.float32"} | facts
    return type(name, (), {key: staticmethod(one) if callable(one) else one for key, one in own.items()})()


REFUSED: dict[str, tuple[Any, str]] = {
    "a number": (3, r"model is 3 \(int\), but must be a model of transformers"),
    "a name": ("org/name", "org/name.*must be a model of transformers"),
    "a module without a config": (Linear(), "a Linear, which has no such config.*verify_tensors"),
    "a config without a type": (_with(config=SimpleNamespace(to_dict=dict)), "no such config"),
    "an adapter": (_with(peft_config={"default": 1}), r"adapter of PEFT.*merge_and_unload\(\)"),
    "quantised": (_with(hf_quantizer=object()), "quantised in memory.*Save it and verify the folder"),
    "ZeRO-3": (_with(parameters=lambda: [SimpleNamespace(ds_id=1)]), "holds only a part.*Gather"),
    "FSDP": (_with(parameters=lambda: [type("FlatParameter", (), {})()]), "holds only a part.*Gather"),
    "quantised, compiled": (_with("OptimizedModule", _orig_mod=_with(is_quantized=True)), "a LlamaFor.* quantised"),
}


@pytest.mark.parametrize(("model", "said"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_be_saved_as_it_is_held_is_refused_in_words(model: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        hfcount.verify_model(model)


SMALL = {
    "bert": {
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "vocab_size": 50,
    },
    "t5": {"d_model": 8, "d_kv": 4, "num_heads": 2, "num_layers": 2, "d_ff": 12, "vocab_size": 50},
}


def _built(kind: str, device: str = "cpu", **changes: Any) -> Any:
    """A fresh model, whose config was never saved and names no class."""
    torch = pytest.importorskip("torch", reason=REASON)
    transformers = pytest.importorskip("transformers", reason=REASON)
    name = next(one for one in ("bert", "llama", "qwen3", "t5") if kind.lower().startswith(one))
    values = SMALL.get(name) or TINY[name]
    values = {key: value for key, value in values.items() if key not in ("architectures", "model_type", "dtype")}
    with torch.device(device):
        return getattr(transformers, kind)(transformers.AutoConfig.for_model(name, **(values | changes)))


@pytest.mark.long
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    "kind",
    [
        "BertForSequenceClassification",
        "BertModel",
        "BertForMaskedLM",
        "Qwen3ForSequenceClassification",
        "Qwen3Model",
        "Qwen3ForCausalLM",
        "T5ForConditionalGeneration",
    ],
)
def test_a_fresh_model_is_what_it_would_save(kind: str, device: str) -> None:
    report = hfcount.verify_model(_built(kind, device))
    assert (report.verdict, report.architecture, report.model) == ("verified", kind, f"{kind} in memory")
    assert report.source == "memory"


def _other_head(model: Any, more: float = 0) -> Any:
    import torch

    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone() + more)
    return model


def _shorter(model: Any) -> Any:
    del model.model.layers[1:]
    return model


def _same_head(model: Any) -> Any:
    model.lm_head.weight = model.model.embed_tokens.weight
    return model


def _wrapped(model: Any) -> Any:
    import torch

    return torch.nn.DataParallel(model)


# What is done to a model, by whether its config ties its head, and what is said of it.
CHANGED: dict[str, tuple[bool, Callable[[Any], Any], str, list[str]]] = {
    "tied": (True, lambda model: model, "verified", []),
    "tied, in half precision": (True, lambda model: model.half(), "verified", []),
    "wrapped": (True, _wrapped, "verified", []),
    "an equal copy for a tied head": (True, _other_head, "explained", ["HF203"]),
    "another head for a tied one": (True, lambda model: _other_head(model, 1), "explained", ["HF213"]),
    "a tied head that is not said": (False, _same_head, "mismatch", ["HF201"]),
    "layers that are gone": (False, _shorter, "mismatch", ["HF201"]),
}


@pytest.mark.long
@pytest.mark.parametrize(("tied", "change", "verdict", "codes"), CHANGED.values(), ids=CHANGED)
def test_a_model_that_was_changed(tied: bool, change: Callable[[Any], Any], verdict: str, codes: list[str]) -> None:
    report = hfcount.verify_model(change(_built("LlamaForCausalLM", tie_word_embeddings=tied)))
    assert (report.verdict, [finding.code for finding in report.findings]) == (verdict, codes)


@pytest.mark.long
def test_the_class_counts_and_not_what_an_older_config_says() -> None:
    model = _built("LlamaModel")
    model.config.architectures = ["LlamaForCausalLM"]
    assert hfcount.verify_model(model).verdict == "verified"
    assert hfcount.verify_model(model, allow=["HF201"], strict=True).verdict == "verified"
