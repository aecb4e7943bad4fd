"""Says whether vLLM takes experts in FP8 one by one, beside routers that its modules build dense whatever lists say."""

import re
from collections.abc import Mapping
from typing import Any

from hfcount.verifier.loaders.engines.facts import Registered
from hfcount.verifier.loaders.engines.reading import strings
from hfcount.verifier.loaders.loader import Checkpoint

_PARTS = r"\.experts\.(?:\d+|\{[^}]*\})\."
_EXPERTS = {
    "deepseek_v2": rf"\.mlp{_PARTS}(?:gate_proj|up_proj|down_proj)$",
    "glm4_moe": rf"\.mlp{_PARTS}(?:gate_proj|up_proj|down_proj)$",
    "mixtral": rf"\.block_sparse_moe{_PARTS}w[123]$",
}
"""How modules call the parts of an expert (vLLM 0.33, models/deepseek_v2.py:1989, glm4_moe.py, mixtral.py:131).

In these every linear layer but the router takes the settings.
"""

_DENSE = ("norm.weight", "embed_tokens.weight", "lm_head.weight", ".gate.weight", ".gate.e_score_correction_bias")
"""Endings of what they build dense: norms, the embedding, the head, and routers."""

_SCALED = {"weight", "weight_scale_inv"}


def are_settled(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> bool:
    """Whether every linear layer is stored in FP8 with scales of blocks, but those that are built dense.

    Lists may then name what is dense anyway. The parts of an expert are put into one module by their names, as
    routed_experts.py does, and blocks have to divide those that are put together.
    """
    pattern, block = _EXPERTS.get(registered.module), values.get("weight_block_size")
    if not pattern or not registered.dense_router or not registered.is_strict or not _divides(checkpoint.values, block):
        return False
    modules: dict[str, set[str]] = {}
    for name in checkpoint.names():
        if not name.endswith(_DENSE) and not _is_behind(checkpoint.values, name):
            module, _, leaf = name.rpartition(".")
            modules.setdefault(module, set()).add(leaf)
    ignored = strings(values, "ignored_layers", "modules_to_not_convert")
    if any(entry in modules or "experts" in entry for entry in ignored):
        return False
    experts = [module for module in modules if ".experts." in module]
    return bool(experts) and all(
        leaves - {"bias"} == _SCALED and (".experts." not in module or re.search(pattern, module))
        for module, leaves in modules.items()
    )


def _divides(config: Mapping[str, Any], block: object) -> bool:
    """Whether blocks divide the width of an expert, and the rank of queries, which is put before that of keys."""
    if not (isinstance(block, list) and len(block) == 2 and isinstance(block[0], int) and block[0] > 0):
        return False
    width = config.get("moe_intermediate_size", config.get("intermediate_size"))
    rank = config.get("q_lora_rank") or 0
    return isinstance(width, int) and isinstance(rank, int) and not width % block[0] and not rank % block[0]


def _is_behind(config: Mapping[str, Any], name: str) -> bool:
    """Whether a name is of a layer of prediction behind the last, which the config announces."""
    layers, announced = config.get("num_hidden_layers"), config.get("num_nextn_predict_layers")
    found = re.match(r"model\.layers\.(\d+)\.", name)
    return bool(announced) and isinstance(layers, int) and found is not None and int(found[1]) >= layers
