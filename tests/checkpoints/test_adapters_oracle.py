"""Adapters that peft itself saves, on random bases of transformers: each agrees, and none that peft minds."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tables import over

import hfcount

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch, transformers and peft"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)
peft = pytest.importorskip("peft", reason=_EXTRA)

SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 96,
    "max_position_embeddings": 64,
    "pad_token_id": None,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "shared_expert_intermediate_size": 40,
}
SIZES: Mapping[str, Mapping[str, Any]] = {
    "t5": {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 96},
    "gptj": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "vocab_size": 96, "n_positions": 64},
    "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 96, "state_size": 8},
    "lfm2": {**SMALL, "layer_types": ["conv", "full_attention"]},
    "beit": {**SMALL, "image_size": 32, "patch_size": 8},
    "vit": {**SMALL, "image_size": 32, "patch_size": 8},
}

Settings = Callable[[], Any]


def _lora(**settings: Any) -> Settings:
    return lambda: peft.LoraConfig(**{"task_type": "CAUSAL_LM", "r": 4} | settings)


def _other(name: str, **settings: Any) -> Settings:
    return lambda: getattr(peft, name)(**{"task_type": "CAUSAL_LM"} | settings)


QV, ALL = ["q_proj", "v_proj"], "all-linear"
CASES: dict[str, tuple[str, str, Settings]] = {
    "mistral, all": ("mistral", "MistralForCausalLM", _lora(target_modules=ALL, use_dora=True)),
    "gemma, tied head": ("gemma2", "Gemma2ForCausalLM", _lora(target_modules=["lm_head", "embed_tokens", "q_proj"])),
    "gemma, saved": ("gemma3_text", "Gemma3ForCausalLM", _lora(target_modules=QV, modules_to_save=["lm_head"])),
    "neox, head": ("gpt_neox", "GPTNeoXForCausalLM", _lora(target_modules=["dense"], modules_to_save=["lm_head"])),
    "phi, biases": ("phi", "PhiForCausalLM", _lora(target_modules=["dense", "q_proj"], bias="all")),
    "gptj": ("gptj", "GPTJForCausalLM", _lora(target_modules=ALL, bias="lora_only")),
    "mamba": ("mamba", "MambaForCausalLM", _lora(target_modules=["in_proj", "x_proj", "embeddings"])),
    "lfm2": ("lfm2", "Lfm2ForCausalLM", _lora(target_modules=["in_proj", "w1", "q_proj"])),
    "experts, all": ("qwen3_moe", "Qwen3MoeForCausalLM", _lora(target_modules=ALL)),
    "experts, regex": ("qwen2_moe", "Qwen2MoeForCausalLM", _lora(target_modules=r".*\.(q_proj|gate_proj|up_proj)")),
    "experts, one": (
        "olmoe",
        "OlmoeForCausalLM",
        _lora(target_parameters=["mlp.experts.down_proj"], target_modules=[]),
    ),
    "experts, turned": (
        "gpt_oss",
        "GptOssForCausalLM",
        _lora(target_modules=[], target_parameters=["experts.gate_up_proj", "experts.down_proj"]),
    ),
    "t5": ("t5", "T5ForConditionalGeneration", _lora(task_type="SEQ_2_SEQ_LM", target_modules=["q", "wi", "shared"])),
    "roberta": ("roberta", "RobertaForSequenceClassification", _lora(task_type="SEQ_CLS", target_modules=["query"])),
    "vit, conv": ("vit", "ViTForImageClassification", _lora(task_type=None, target_modules=["projection", "q_proj"])),
    "loha": ("llama", "LlamaForCausalLM", _other("LoHaConfig", target_modules=QV)),
    "lokr": ("llama", "LlamaForCausalLM", _other("LoKrConfig", target_modules=QV, r=2, decompose_both=True)),
    "oft": ("llama", "LlamaForCausalLM", _other("OFTConfig", target_modules=QV, oft_block_size=5)),
    "vera": ("llama", "LlamaForCausalLM", _other("VeraConfig", target_modules=["q_proj", "up_proj"], r=4)),
    "beit, all": ("beit", "BeitForImageClassification", _lora(task_type=None, target_modules=ALL)),
    "tokens, tied": ("gemma2", "Gemma2ForCausalLM", _other("TrainableTokensConfig", token_indices=[1, 5])),
    "tokens": ("llama", "LlamaForCausalLM", _other("TrainableTokensConfig", token_indices=[1, 5])),
}


def saved(name: str, folder: Path) -> tuple[Any, Path]:
    """A base, and the folder of an adapter of it."""
    kind, architecture, settings = CASES[name]
    made = transformers.AutoConfig.for_model(kind, **SIZES.get(kind, SMALL))
    base = getattr(transformers, architecture)(made)
    config = {**json.loads(made.to_json_string()), "architectures": [architecture], "model_type": kind}
    peft.get_peft_model(base, settings()).save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(config))
    return getattr(transformers, architecture)(made), folder


def minded(base: Any, folder: Path) -> bool:
    """Whether peft refuses an adapter, or misses or ignores a tensor of it."""
    settings = peft.PeftConfig.from_pretrained(folder)
    try:
        model = peft.PeftModel(base, settings)
        result = model.load_adapter(folder, "default")
    except (RuntimeError, ValueError, KeyError):
        return True
    return bool(result.missing_keys or result.unexpected_keys)


@pytest.mark.filterwarnings("ignore")
@over("name", CASES, every=2)
def test_what_peft_saves_agrees_and_what_it_minds_does_not(tmp_path: Path, name: str) -> None:
    base, folder = saved(name, tmp_path / "adapter")
    report = hfcount.verify(folder)
    assert (report.verdict, [finding.message for finding in report.findings]) == ("verified", [])
    safetensors = pytest.importorskip("safetensors.torch", reason="`pip install -e .[oracle]` brings safetensors")
    tensors = safetensors.load_file(folder / "adapter_model.safetensors")
    pickled = tmp_path / "pickled"
    shutil.copytree(folder, pickled)
    (pickled / "adapter_model.safetensors").unlink()
    torch.save(tensors, pickled / "adapter_model.bin")
    assert hfcount.verify(pickled).verdict == "verified"
    own = next(
        one for one in sorted(tensors, reverse=True) if re.search("lora_|hada_|lokr_|oft_|vera_lambda|trainable", one)
    )
    safetensors.save_file(
        {key: one for key, one in tensors.items() if key != own}, folder / "adapter_model.safetensors"
    )
    assert minded(base, folder)
    assert hfcount.verify(folder).verdict == "mismatch"
