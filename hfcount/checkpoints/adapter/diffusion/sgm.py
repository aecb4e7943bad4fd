"""Names of a U-Net's modules in the original repo, as kohya's scripts write them for SDXL, and diffusers' names.

Source: diffusers 0.42.1, loaders/lora_conversion_utils.py (`_maybe_map_sgm_blocks_to_diffusers`,
`_convert_unet_lora_key`).
"""

import re

_SGM = re.compile(r"(input_blocks|middle_block|output_blocks)_")
_BLOCK = re.compile(r"(?P<stack>input|output)_blocks_(?P<number>\d+)_(?P<inner>\d+)_(?P<rest>.+)")
_MIDDLE = re.compile(r"middle_block_(?P<inner>\d+)_(?P<rest>.+)")
_INNER = ("resnets", "attentions", "upsamplers")
_MIDDLES = ("resnets_0", "attentions_0", "resnets_1")
_RESNET = {
    "in_layers_2": "conv1",
    "out_layers_3": "conv2",
    "emb_layers_1": "time_emb_proj",
    "skip_connection": "conv_shortcut",
}
_ALONE = {
    "input_blocks_0_0": "conv_in",
    "out_2": "conv_out",
    "time_embed_0": "time_embedding_linear_1",
    "time_embed_2": "time_embedding_linear_2",
    "label_emb_0_0": "add_embedding_linear_1",
    "label_emb_0_2": "add_embedding_linear_2",
}


def is_of_sgm(path: str) -> bool:
    """Whether a path, with `_` for dots, is the original repo's."""
    return _SGM.match(path) is not None


def diffusers_path(path: str, layers_per_block: int) -> str:
    """The path that diffusers has for one of the original repo, both with `_` for dots; as it is where it is none.

    >>> diffusers_path("input_blocks_4_1_proj_in", 2), diffusers_path("output_blocks_2_2_conv", 2)
    ('down_blocks_1_attentions_0_proj_in', 'up_blocks_0_upsamplers_0_conv')
    """
    if path in _ALONE:
        return _ALONE[path]
    step = layers_per_block + 1
    if (match := _BLOCK.fullmatch(path)) and int(match["inner"]) < len(_INNER):
        number, inner, rest = int(match["number"]), _INNER[int(match["inner"])], match["rest"]
        if match["stack"] == "output":
            layer = 0 if inner == "upsamplers" else number % step
            return f"up_blocks_{number // step}_{inner}_{layer}_{_RESNET.get(rest, rest)}"
        if rest == "op":
            return f"down_blocks_{(number - 1) // step}_downsamplers_0_conv"
        return f"down_blocks_{(number - 1) // step}_{inner}_{(number - 1) % step}_{_RESNET.get(rest, rest)}"
    if (match := _MIDDLE.fullmatch(path)) and int(match["inner"]) < len(_MIDDLES):
        return f"mid_block_{_MIDDLES[int(match['inner'])]}_{_RESNET.get(match['rest'], match['rest'])}"
    return path
