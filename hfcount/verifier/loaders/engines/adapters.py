"""How engines serve LoRA adapters: which features of PEFT they refuse, and which they pass over."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.loaders.engines.facts import Engine
from hfcount.verifier.loaders.engines.reading import Difference
from hfcount.verifier.loaders.loader import Checkpoint

_INITIALS = ("gaussian", "eva", "orthogonal", "mica", "lora_ga")
"""What init_lora_weights may say for vLLM: with these an adapter that was saved is a plain one."""

_FEATURES = ("alora_invocation_tokens", "layer_replication", "use_bdlora", "use_qalora", "lora_bias")
_HEADS = ("score", "classifier")
_CLASSIFYING = ("SEQ_CLS", "TOKEN_CLS")
_REQUIRED = ("r", "lora_alpha", "target_modules")
_BASE_COPIES = (".embed_tokens.base_layer.weight", ".lm_head.base_layer.weight")
_EMBEDDINGS = ("embed_tokens", "lm_head")


def of_vllm(checkpoint: Checkpoint, facts: Engine) -> Iterator[Difference]:
    """What vLLM does otherwise than PEFT with an adapter."""
    values = checkpoint.values
    method = values.get("peft_type")
    if isinstance(method, str) and method.upper() != "LORA":
        yield Difference("foreign", f"has no adapters of {method}", "adapter_keys")
        return
    for key in _REQUIRED:
        if key not in values:
            yield Difference("refuses", f"needs {key}", "adapter_keys")
    yield from _vllm_features(values)
    ranks = [rank for rank in (values.get("r"), *_ranks(values)) if isinstance(rank, int)]
    if ranks and min(ranks) <= 0:
        yield Difference("refuses", f"refuses rank {min(ranks)}", "adapter_zero")
    if ranks and max(ranks) > facts.max_rank:
        flag = "unless --max-lora-rank says so"
        says = f"refuses rank {max(ranks)}: above max_lora_rank, which is {facts.max_rank} {flag}"
        yield Difference("refuses", says, "adapter_rank")
    yield from _vllm_names(checkpoint)
    if checkpoint.agrees is False:
        yield Difference(
            "unknown", "was not recorded with an adapter that differs from its base", "", checkpoint.errors
        )
    elif checkpoint.agrees is None:
        yield Difference("unknown", "is not known here without the base model, whose modules decide")


def _vllm_features(values: Mapping[str, Any]) -> Iterator[Difference]:
    saved = values.get("modules_to_save")
    if isinstance(saved, list) and (others := [name for name in saved if name not in _HEADS]):
        yield Difference("refuses", f"refuses modules_to_save {', '.join(map(str, others))}", "adapter_saved")
    if values.get("use_dora"):
        yield Difference("refuses", "refuses use_dora", "adapter_dora")
    initial = values.get("init_lora_weights")
    if isinstance(initial, str) and initial.lower() not in _INITIALS:
        says = f"refuses init_lora_weights {initial}, by which the base model would change, too"
        yield Difference("refuses", says, "adapter_init")
    for key in _FEATURES:
        if values.get(key):
            yield Difference("refuses", f"refuses {key}", "adapter_features")
    if values.get("bias", "none") != "none":
        yield Difference("refuses", f"refuses bias {values['bias']}", "adapter_bias")


def _vllm_names(checkpoint: Checkpoint) -> Iterator[Difference]:
    heads = set()
    for name in checkpoint.names():
        parts = name.split(".")
        if len(parts) >= 2 and parts[-1] in ("weight", "bias") and parts[-2] in _HEADS:
            heads.add(name.rpartition(".")[0])
        elif not _is_half(parts) and not name.endswith(_BASE_COPIES):
            yield Difference("refuses", f"refuses {name}: it is no half of an adapter", "adapter_names")
            break
        elif (module := _module(parts)) and "norm" in module:
            yield Difference(
                "refuses", f"adapts linear layers and embeddings alone, and refuses {name}", "adapter_modules"
            )
            break
    if heads and checkpoint.values.get("task_type") not in _CLASSIFYING:
        yield Difference("unknown", "takes a head for a classification model alone, which the base decides")
    if len(heads) > 1:
        yield Difference("refuses", f"refuses more than one head: {', '.join(sorted(heads))}", "adapter_heads")


def _module(parts: list[str]) -> str:
    """The last part of the name of the module that a half adapts."""
    rest = parts[:-1] if parts[-1].startswith("lora_embedding_") else parts[:-2]
    return rest[-1] if rest else ""


def _is_half(parts: list[str]) -> bool:
    if parts[-1].startswith("lora_embedding_"):
        return parts[-1] in ("lora_embedding_A", "lora_embedding_B")
    return len(parts) >= 2 and parts[-1] == "weight" and parts[-2] in ("lora_A", "lora_B")


def of_sglang(checkpoint: Checkpoint, facts: Engine) -> Iterator[Difference]:
    """What SGLang does otherwise than PEFT with an adapter."""
    del facts
    values = checkpoint.values
    method = values.get("peft_type")
    if not isinstance(method, str) or method.lower() != "lora":
        yield Difference("refuses", f"refuses peft_type {method}", "adapter_type")
    for key in _REQUIRED:
        if key not in values:
            yield Difference("refuses", f"needs {key}", "adapter_keys")
    if values.get("use_dora"):
        yield Difference("refuses", "refuses use_dora", "adapter_dora")
    targets = values.get("target_modules")
    if isinstance(targets, str) and targets not in ("all-linear", "all"):
        says = f"refuses target_modules {targets} as an expression, unless --lora-target-modules is given"
        yield Difference("refuses", says, "adapter_targets")
    if values.get("use_rslora"):
        yield Difference("differs", "does not read use_rslora, and scales by lora_alpha / r", "adapter_scaling")
    for key in ("rank_pattern", "alpha_pattern"):
        if values.get(key):
            yield Difference("differs", f"does not read {key}, and scales by lora_alpha / r", "adapter_scaling")
    yield from _sglang_saved(checkpoint, targets)
    if checkpoint.agrees is not True:
        yield Difference(
            "unknown", "is not known here without the base model, whose modules decide", "", checkpoint.errors
        )


def _sglang_saved(checkpoint: Checkpoint, targets: Any) -> Iterator[Difference]:
    """Tensors that are no halves: of these only the embedding and the head are read, where target_modules has them."""
    listed = targets if isinstance(targets, list) else [*_EMBEDDINGS]
    for name in checkpoint.names():
        if _is_half(name.split(".")) or name.endswith(_BASE_COPIES):
            continue
        if part := next((part for part in _EMBEDDINGS if f".{part}." in name), None):
            if part not in listed:
                says = f"drops {name}, since target_modules does not name {part}"
                yield Difference("differs", says, "adapter_saved")
            else:
                yield Difference("unknown", f"is not known here to use {name}", "adapter_saved")
        else:
            yield Difference("differs", f"drops {name}, which is no half of an adapter", "adapter_dropped")


def _ranks(values: Mapping[str, Any]) -> list[Any]:
    pattern = values.get("rank_pattern")
    return list(pattern.values()) if isinstance(pattern, Mapping) else []
