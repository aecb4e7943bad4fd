"""Ling and Ring: layers in groups, and experts whose shared one has a width of its own."""

from hfcount.architectures.keys.ffn import moe
from hfcount.architectures.keys.layers import by_place, listing
from hfcount.architectures.keys.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layers, Mixer, MoE
from hfcount.spec.tree.indices import Indices


def in_groups(c: Config, full: Mixer, linear: Mixer) -> list[Layers]:
    """Layers with `full` at the end of each group of layer_group_size, and after the last group; others with `linear`.

    A list has 1 for each layer with linear attention, and 0 for each other. Source: bailing_moe_v3.py of mlx-lm 0.32.2
    and configs/bailing_hybrid.py of SGLang 0.5.23.
    """
    key, count = "layer_group_size", layer_count(c)
    if isinstance(c.value(key), list):
        return by_place(c, listing(c, key, c.ints(key), 0, 1)[:1], full, linear)
    size = c.int(key, minimum=1, maximum=MAX_LAYERS)
    after = int(count) // int(size) * int(size)
    return by_place(c, [Indices.span(size - 1, after, size), Indices.span(after, count)], full, linear)


def bailing_experts(c: Config) -> MoE:
    """Routed experts, and shared ones of moe_shared_expert_intermediate_size, stored as one."""
    routed = moe(c, "moe_intermediate_size", experts=("num_experts",))
    each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("moe_intermediate_size")
    shared = each * c.int("num_shared_experts", default=0, minimum=0)
    return routed.replace(shared=shared or None)
