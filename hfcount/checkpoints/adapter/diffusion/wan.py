"""Modules of Wan by the original repo's names, as ComfyUI and kohya's scripts write them, and diffusers' names.

Source: diffusers 0.42.1, loaders/lora_conversion_utils.py (`_convert_non_diffusers_wan_lora_to_diffusers`,
`_convert_musubi_wan_lora_to_diffusers`).
"""

import re
from collections.abc import Collection, Mapping

_IN_BLOCK = re.compile(r"blocks\.(\d+)\.(\w+)\.(\w+)")
_ATTENTION = {"q": "to_q", "k": "to_k", "v": "to_v", "o": "to_out.0"}
_OF_IMAGES = {"k_img": "add_k_proj", "v_img": "add_v_proj"}
_FORWARD = {"0": "net.0.proj", "2": "net.2"}
_OF_BLOCK: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "self_attn": ("attn1", _ATTENTION),
    "cross_attn": ("attn2", {**_ATTENTION, **_OF_IMAGES}),
    "ffn": ("ffn", _FORWARD),
}
_ALONE = {
    "time_projection.1": "condition_embedder.time_proj",
    "head.head": "proj_out",
    "text_embedding.0": "condition_embedder.text_embedder.linear_1",
    "text_embedding.2": "condition_embedder.text_embedder.linear_2",
    "time_embedding.0": "condition_embedder.time_embedder.linear_1",
    "time_embedding.2": "condition_embedder.time_embedder.linear_2",
    "img_emb.proj.1": "condition_embedder.image_embedder.ff.net.0.proj",
    "img_emb.proj.3": "condition_embedder.image_embedder.ff.net.2",
}


def wan_path(path: str) -> str:
    """The path that diffusers has for one of the original repo; empty if it converts none of that name.

    >>> wan_path("blocks.3.self_attn.o"), wan_path("head.head"), wan_path("blocks.0.x.q")
    ('blocks.3.attn1.to_out.0', 'proj_out', '')
    """
    match = _IN_BLOCK.fullmatch(path)
    if match is None:
        return _ALONE.get(path, "")
    name, inside = _OF_BLOCK.get(match[2], ("", {}))
    return f"blocks.{match[1]}.{name}.{inside[match[3]]}" if match[3] in inside else ""


def is_converted(paths: Collection[str]) -> bool:
    """Whether diffusers converts a LoRA of these paths at all: it asks for blocks, and for both maps of images."""
    images = {path.rpartition(".")[2] for path in paths} & {*_OF_IMAGES}
    return any(path.startswith("blocks.") for path in paths) and len(images) != 1


def kohya_names(names: Collection[str]) -> tuple[set[str], Mapping[str, str]]:
    """What diffusers asks for of a LoRA by kohya's names: every name, and the paths of modules by kohya's.

    It converts as many blocks as are named, from the first on, and each of them whole.
    """
    blocks = {name.partition("blocks_")[2].partition("_")[0] for name in names}
    images = all(any(part in name for name in names) for part in _OF_IMAGES)
    paths = dict[str, str]()
    for number in range(len(blocks)):
        for kind, (part, inside) in _OF_BLOCK.items():
            paths |= {
                f"blocks_{number}_{kind}_{name}": f"blocks.{number}.{part}.{known}"
                for name, known in inside.items()
                if images or name not in _OF_IMAGES
            }
    ends = ("lora_down.weight", "lora_up.weight", "alpha")
    return {f"lora_unet_{path}.{end}" for path in paths for end in ends}, paths
