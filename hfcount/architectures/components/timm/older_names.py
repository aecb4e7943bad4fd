"""Names of earlier files that timm takes when it loads, by the file of timm that describes the model (timm 1.0.31).

Source: checkpoint_filter_fn of each file in timm/models, and what it calls.
"""

import re
from collections.abc import Iterable

_CONVNEXT = (
    r"^downsample_layers\.|^stages\.\d+\.\d+\.|dwconv|pwconv|grn\.(?:gamma|beta)|^norm\.|^head\.(?:weight|bias)$"
)
_FOREIGN = r"^(?:module|visual|trunk|encoder|image_encoder|vision_encoder|radio_model|preprocessor|post_trunk_norm)\."
_VIT = (
    rf"{_FOREIGN}|beit3\.|gamma_\d|\.norm_[12]\.|\.mlp\.(?:fc3|w12|w3)\.|attn\.(?:q|k|v)_proj\.|register_tokens|grandma"
    r"|mask_token"
)
_SWIN = r"^layers\.\d+\.downsample\.|^head\.(?:weight|bias)$"
_OPERATIONS = r"\.op_list\.|\.opseq\.|^backbone\.|\.total\.|\.conv_proj\.[01]\.|\.pwise\.0\."

_CONVERTED = {
    "byobnet": r"^visual\.",
    "cait": r"^module\.",
    "convnext": rf"{_CONVNEXT}|^(?:visual|projectors|norms)\.",
    "cpubone": _OPERATIONS,
    "crossvit": r"(?:pos_embed|cls_token)\.\d",
    "csatv2": r"^dct\.|_Conv\.|attention\.|\.ff\.|_norm\.|to_qkv|to_out|grn\.(?:gamma|beta)|^stages\d|^(?:head|norm)\.",
    "cspnext": r"^backbone\.|^stage\d+\.",
    "davit": r"^patch_embeds\.|^main_blocks\.|^vision_tower\.|cpe\.[01]|\.fn\.|^norms\.|^head\.(?:weight|bias)$",
    "deepseek_vit": r"^vision\.|\.w[12o]\.|\.wqkv\.",
    "deit": rf"{_VIT}|dist_head",
    "densenet": r"denselayer\d+\.(?:norm|relu|conv)\.[12]\.",
    "edgenext": _CONVNEXT,
    "efficientformer": r"^network\.|^patch_embed\.|layer_scale_\d|dist_head",
    "eva": rf"{_FOREIGN}|^conv1\.|storage_tokens|\.?ln[12]\.|\.ffn\.|w[qkv123]2?\.|[qkv]_proj\.|[qv]_bias|gamma"
    r"|_attn_ln|ffn_ln|patch_embed\.projection|attn_pool|bias_mask$|^projectors\.|^local_cls_norm",
    "fastvit": r"^(?:network|patch_embed|image_encoder|module)\.|rbr_|conv_exp|convffn|lkb_origin|se\.(?:reduce|expand)"
    r"|layer_scale(?:_\d)?$|dist_head|^head\.(?:weight|bias|proj)$",
    "focalnet": r"gamma_\d|^patch_embed\.|downsample\.|norm\d|\bln\.|^head\.",
    "gemma4_vit": r"^(?:model|vision_model|vision_tower|encoder|patch_embedder)\.|layernorm\.|\.self_attn\.",
    "ghostnet": r"\.bn\.",
    "hiera": r"head\.projection\.|^encoder_norm\.|^norm\.|^pos_embed_abs$",
    "hieradet_sam2": r"^image_encoder\.|mlp\.layers\.[01]\.",
    "iformer": r"^downsample_layers\.|^classifier\.|^stages\.\d+\.\d+\.|channel_mixer|\.m\.",
    "lowformer": _OPERATIONS,
    "mambaout": rf"{_CONVNEXT}|^head\.fc[12]\.",
    "metaformer": r"network|layer_scale_?\d|downsample_layers|patch_embed|(?:post|pre)_norm|^(?:head|norm)\."
    r"|^stages\.\d+\.\d",
    "mlp_mixer": r"^patch_embed\.|\.attn\.|\.mlp\.|gamma_\d|\.(?:alpha|beta)$",
    "mobilenetv5": r"^model\.vision_tower\.",
    "mvitv2": r"^blocks\.|^head\.projection\.",
    "naflexvit": r"^(?:radio_model|patch_embed)\.|^(?:pos_embed|cls_token|reg_token)$",
    "nextvit": r"^(?:features|stem|proj_head)\.",
    "pit": r"^transformers\.|^pools\.",
    "pvt_v2": r"^(?:patch_embed|block|norm)\d|dwconv\.dwconv",
    "qwen3_vit": r"^(?:model\.)?visual\.|linear_fc[12]|merger",
    "rdnet": r"stem\.stem\.",
    "regnet": r"_feature_blocks|projection_head|prototypes|trunk_output|^0\.clf|^fc\.|^stem\.[01]|^s\d\.",
    "sequencer": r"^blocks\.|^head\.(?:weight|bias)$",
    "swiftformer": r"^network\.|^patch_embed\.|layer_scale|dist_head|\.Proj\.",
    "swin_transformer": _SWIN,
    "swin_transformer_v2": _SWIN,
    "swin_transformer_v2_cr": r"\.tau$|^head\.(?:weight|bias)$",
    "tnt": r"^outer_|^inner_|^patch_embed\.|^proj_norm|\.(?:inner|outer)_",
    "tresnet": r"^body\.",
    "vgg": r"^classifier\.",
    "vision_transformer": _VIT,
    "vision_transformer_hybrid": rf"{_FOREIGN}|patch_emb\.|pre_norm_|qkv_proj|out_proj|^classifier\.|transformer\.",
    "vision_transformer_sam": r"^image_encoder\.|mlp\.lin\d",
    "vitamin": _VIT,
    "xcit": r"^pos_embed|cls_attn_blocks\.\d+\.attn\.qkv\.",
}
"""Names that timm gives other names, or other shapes, by regular expressions."""

_INDEX, _BIAS = r"relative_position_index$", r"attention_bias_idxs$"

_DROPPED = {
    "beit": _INDEX,
    "coat": r"^(?:norm[1-4]|aggregate|head)\.",
    "deit": r"^pre_logits\.",
    "efficientvim": r"^heads_dist\.|^weights_dist$",
    "efficientvit_msra": _BIAS,
    "eva": r"rope(?!\.freqs$)|^mask_token$",
    "gemma4_vit": r"rotary_emb",
    "ghostnet": r"total",
    "levit": _BIAS,
    "swin_transformer": rf"{_INDEX}|attn_mask$",
    "swin_transformer_v2": rf"{_INDEX}|attn_mask$|relative_coords_table$",
    "tiny_vit": _BIAS,
    "tnt": r"^outer_tokens$",
    "vision_transformer": r"^pre_logits\.",
    "vitamin": r"^pre_logits\.",
}
"""Names that timm drops."""


def drops(module: str, names: Iterable[str]) -> bool:
    """Whether timm drops all of these tensors when it loads a model of one of its files."""
    pattern = _DROPPED.get(module)
    return pattern is not None and all(re.search(pattern, name) for name in names)


def converts(module: str, names: Iterable[str]) -> bool:
    """Whether timm may give all of these tensors other names, or drop them."""
    if module not in _CONVERTED:
        return False
    patterns = [table[module] for table in (_CONVERTED, _DROPPED) if module in table]
    return all(any(re.search(pattern, name) for pattern in patterns) for name in names)
