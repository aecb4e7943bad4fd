"""Drafts with the target that each is held against, and what must be found of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from defects import Checkpoint, Tensors

from hfcount.blueprints.build import build
from hfcount.mapper import Config

Json = dict[str, Any]

TARGET: Json = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "dtype": "bfloat16",
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 12,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 4096,
    "rope_theta": 1000000,
}
"""A small target, whose words and states all drafts here read unless they say otherwise."""

LAYER: Json = {**TARGET, "num_hidden_layers": 1, "intermediate_size": 48}


def speculator(kind: str, layer: Json | None = None, **more: Any) -> Json:
    """A config of speculators."""
    verifier = {"name_or_path": "org/target", "architectures": ["Qwen3ForCausalLM"]}
    return {
        "speculators_model_type": kind,
        "speculators_config": {"algorithm": kind, "verifier": verifier},
        "transformer_layer_config": {**LAYER, **(layer or {})},
        "dtype": "bfloat16",
        **more,
    }


def eagle(**more: Any) -> Json:
    """An EAGLE-3 draft in its own layout."""
    ids = {"eagle_aux_hidden_state_layer_ids": [1, 5, 9]}
    own = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "draft_vocab_size": 24}
    return {**LAYER, **own, "eagle_config": ids, **more}


def flash(**more: Any) -> Json:
    """A DFlash draft in its own layout."""
    own = {"architectures": ["DFlashDraftModel"], "num_target_layers": 12, "block_size": 8}
    return {**LAYER, **own, "dflash_config": {"target_layer_ids": [1, 5, 9], "mask_token_id": 7}, **more}


@dataclass(frozen=True)
class Drafted:
    """A draft, what of its target differs from TARGET, and the expected report; as a Case of defects.py."""

    verdict: str
    codes: str = ""
    says: tuple[str, ...] = ()
    draft: Json = field(default_factory=eagle)
    target: Mapping[str, Any] = field(default_factory=dict)
    gone: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        """The draft, and in target.json beside its folder the config of the target."""
        checkpoint = Checkpoint(self.draft, {"model.safetensors": stored(self.draft, self.gone)}, weight_map={})
        checkpoint.write(folder)
        (folder.parent / "target.json").write_text(json.dumps(TARGET | dict(self.target)))
        return folder


def stored(draft: Json, gone: tuple[str, ...] = ()) -> Tensors:
    """All tensors of a draft, but those that are gone; it stores an embedding where it may."""
    rows = build(Config(draft)).rows()
    held = {
        row.name: row for row in rows if row.count == 1 and row.kind in ("parameter", "buffer") and row.name not in gone
    }
    dtypes = {"d2t": "I64", "t2d": "BOOL"}
    return {name: (dtypes.get(name, "BF16"), tuple(map(int, row.shape))) for name, row in held.items()}


MTP: Json = {"num_nextn_predict_layers": 1}

DRAFTED: dict[str, Drafted] = {
    "EAGLE-3 that fits": Drafted("verified"),
    "EAGLE-3 of speculators that fits": Drafted(
        "verified", draft=speculator("eagle3", draft_vocab_size=24, eagle_aux_hidden_state_layer_ids=[2, 6, 12])
    ),
    "DFlash that fits": Drafted("verified", draft=flash(), gone=("embed_tokens.weight", "lm_head.weight")),
    "MTP alone that fits": Drafted("verified", draft=speculator("mtp", **MTP)),
    "a draft that is narrower and stores its own words": Drafted(
        "verified", draft=eagle(hidden_size=16, target_hidden_size=32)
    ),
    "the draft of a smaller model": Drafted(
        "mismatch",
        "HF850",
        ("reads hidden states 32 wide", "are 64 wide"),
        target={"hidden_size": 64},
    ),
    "a draft over another vocabulary": Drafted(
        "mismatch", "HF851", ("vocab_size is 96 in the draft but 104",), target={"vocab_size": 104}
    ),
    "a draft of a deeper model": Drafted(
        "mismatch",
        "HF852",
        ("eagle_config.eagle_aux_hidden_state_layer_ids of the draft lists 9,", "numbered -1 to 8 (8 layers)"),
        target={"num_hidden_layers": 8},
    ),
    "a draft that fills its blocks with a token of another tokenizer": Drafted(
        "mismatch",
        "HF858",
        ("dflash_config.mask_token_id of the draft is 96", "has 96 tokens, numbered 0 to 95"),
        draft=flash(dflash_config={"target_layer_ids": [1, 5, 9], "mask_token_id": 96}),
    ),
    "a list of layers beside eagle_config": Drafted(
        "mismatch",
        "HF852",
        ("eagle_aux_hidden_state_layer_ids of the draft lists 99,", "numbered -1 to 12 (12 layers)"),
        draft=eagle(eagle_config=None, eagle_aux_hidden_state_layer_ids=[1, 5, 99]),
    ),
    "a list of layers beside dflash_config": Drafted(
        "mismatch",
        "HF852",
        ("target_layer_ids of the draft lists 12,", "numbered 0 to 11 (12 layers)"),
        draft=flash(dflash_config={"mask_token_id": 7}, target_layer_ids=[1, 5, 12]),
    ),
    "the states of the embedding and of the last layer": Drafted(
        "verified", draft=eagle(eagle_config={"eagle_aux_hidden_state_layer_ids": [-1, 6, 12]})
    ),
    "a narrower draft without words of its own": Drafted(
        "mismatch",
        "HF853",
        ("stores no embed_tokens.weight", "rows are 32 wide", "layers are 16 wide"),
        draft=eagle(hidden_size=16, target_hidden_size=32),
        gone=("embed_tokens.weight",),
    ),
    "a draft of a model of another depth": Drafted(
        "explained",
        "HF854",
        ("num_target_layers of the draft is 12", "has 16 layers"),
        draft=flash(),
        target={"num_hidden_layers": 16},
    ),
    "a draft of another class": Drafted(
        "explained",
        "HF854",
        ("verifier.architectures of the draft is Qwen3ForCausalLM", "has LlamaForCausalLM"),
        draft=speculator("mtp", **MTP),
        target={"architectures": ["LlamaForCausalLM"], "model_type": "llama"},
    ),
    "a layer with other positions than its target's": Drafted(
        "mismatch",
        "HF855",
        ("rope_theta is 10000 in the draft but 1000000",),
        draft=speculator("mtp", {"rope_theta": 10000}, **MTP),
    ),
    "a draft of shorter texts": Drafted(
        "verified", "HF856", ("allows 2,048 tokens",), draft=eagle(max_position_embeddings=2048)
    ),
    "a draft in another dtype": Drafted(
        "verified", "HF857", ("declares bfloat16", "float16"), target={"dtype": "float16"}
    ),
}
"""By what is the matter; a finding's first case is its example."""
