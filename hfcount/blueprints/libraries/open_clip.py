"""open_clip's layout: open_clip_config.json, and one file of weights with names of its own.

Source: open_clip 3.3.0 (factory.py, model.py, coca_model.py).
"""

import re
from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.text import printable, shown

_TOP = (
    "embed_dim vision_cfg text_cfg quick_gelu init_logit_scale init_logit_bias nonscalar_logit_scale custom_text"
    " multimodal_cfg"
)
_TOWER = (
    "layers width mlp_ratio ls_init_value final_ln_after_pool pool_type output_tokens act_kwargs norm_kwargs"
    " block_type qk_norm scaled_cosine_attn scale_heads scale_attn_inner scale_attn scale_fc"
)
_TEXT = (
    f"{_TOWER} context_length vocab_size hf_tokenizer_name tokenizer_mode tokenizer_kwargs heads embed_cls pad_id"
    " eos_id no_causal_mask proj_bias proj_type hf_model_name hf_model_pretrained hf_proj_type hf_pooler_type"
)
_KEYS = {
    "vision_cfg": f"{_TOWER} head_width patch_size image_size patch_dropout attentional_pool attn_pooler_queries"
    " attn_pooler_heads no_ln_pre pos_embed_type timm_model_name timm_model_pretrained timm_pool timm_proj"
    " timm_proj_bias timm_drop timm_drop_path",
    "text_cfg": _TEXT,
    "multimodal_cfg": f"{_TEXT} dim_head n_queries attn_pooler_heads",
}
"""The keys that the library takes in each object; it refuses any other."""


_OF_CLIP = (
    (r"vision_model\.embeddings\.class_embedding", "visual.class_embedding"),
    (r"vision_model\.embeddings\.patch_embedding\.", "visual.conv1."),
    (r"vision_model\.embeddings\.position_embedding\.weight", "visual.positional_embedding"),
    (r"vision_model\.pre_layrnorm\.", "visual.ln_pre."),
    (r"vision_model\.post_layernorm\.", "visual.ln_post."),
    (r"vision_model\.encoder\.layers\.", "visual.transformer.resblocks."),
    (r"text_model\.encoder\.layers\.", "transformer.resblocks."),
    (r"text_model\.embeddings\.token_embedding\.", "token_embedding."),
    (r"text_model\.embeddings\.position_embedding\.weight", "positional_embedding"),
    (r"text_model\.final_layer_norm\.", "ln_final."),
    (r"visual_projection\.weight", "visual.proj"),
    (r"text_projection\.weight", "text_projection"),
    (r"layer_norm([12])\.", r"ln_\1."),
    (r"mlp\.fc1\.", "mlp.c_fc."),
    (r"mlp\.fc2\.", "mlp.c_proj."),
    (r"self_attn\.out_proj\.", "attn.out_proj."),
    (r"self_attn\.q_proj\.", "attn.in_proj_"),
)
"""What the parts of transformers' CLIP are called here."""


def of_clip(blueprint: Blueprint) -> dict[str, tuple[int, ...]] | None:
    """The tensors of a CLIP of transformers by this layout's names, in which a text tower has no prefix.

    Projections are stored the other way round here, and queries, keys and values in one matrix. None for other models.
    """
    if blueprint.spec.family != "clip" or blueprint.spec.head != "base":
        return None
    shapes = dict[str, tuple[int, ...]]()
    for row in blueprint.rows():
        if row.kind != "parameter" or re.search(r"self_attn\.[kv]_proj\.", row.name):
            continue
        name, shape = row.name, tuple(map(int, row.shape))
        for pattern, new in _OF_CLIP:
            name = re.sub(rf"(?:^|(?<=\.)){pattern}", new, name)
        if ".in_proj_" in name:
            shape = (3 * shape[0], *shape[1:])
        shapes[name] = shape[::-1] if name in ("visual.proj", "text_projection") else shape
    return shapes


def config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config as the family reads it: what model_cfg holds.

    Raises:
        ConfigError: it lacks a part of the model.
        UnknownArchitecture: it has a key that the library does not know.
    """
    model = _object(values, "model_cfg", where)
    _check_known(model, "model_cfg", _TOP, where)
    for name, known in _KEYS.items():
        if name in model or name != "multimodal_cfg":
            _check_known(_object(model, name, where), name, known, where)
    return {"model_type": "open_clip", **model}


def with_named(config: dict[str, Any], named: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """The config with that of the model that is its text tower, where that is known."""
    del where
    return config if named is None else {**config, "text_cfg": {**config["text_cfg"], "hf_config": {**named}}}


def built(config: Config) -> Blueprint:
    """The blueprint of what `config` gives."""
    return build(config)


def _object(values: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    if name not in values:
        raise ConfigError(f"{where} has no {name}.", "HF101", key=name, fix="Download it again.")
    inner = values[name]
    if not isinstance(inner, Mapping):
        text = f"{where}: {name} is {shown(inner)}, but must be an object."
        raise ConfigError(text, variant="unknown-kind", key=name)
    return inner


def _check_known(values: Mapping[str, Any], name: str, known: str, where: str) -> None:
    if other := [key for key in values if key not in known.split()]:
        raise UnknownArchitecture(
            f"{where}: {printable(other[0], 60)} in {name} is no key of open_clip 3.3, which refuses it, so what it"
            " brings is not known."
        )
