"""Inkling 2 whose middle layers a token passes several times, with gates for what the pass before left (its card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.inkling import Inkling, Reach
from hfcount.architectures.components.inkling2 import (
    IGNORED_TEXT,
    RELEASED,
    RELEASED_TEXT,
    headed,
    inkling2_spec,
    text_body,
    whole,
    whole_spec,
)
from hfcount.architectures.layers import altered
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Node, Tensor, block

MODEL_TYPES = ("inkling2_loop",)  # transformers 5.24: modeling_inkling2_loop.py
_BLOCK = "n_layers_per_attn_res_block"
_BOUNDS = ("core_start", "core_end")  # multiples of the block (transformers 5.24, configuration_inkling2_loop.py:161)
_GATES = {"attn": "q", "k": "k", "v": "v", "mlp": "mlp"}
SPELLINGS = RELEASED
_TEXT_SPELLINGS = {
    **RELEASED_TEXT,
    **{rf"\bcontrollers\.{old}\.down_weight$": f"{new}_message_gate.down_proj.weight" for old, new in _GATES.items()},
    **{
        rf"\bcontrollers\.{old}\.forget_weight$": f"{new}_message_gate.forget_gate_proj.weight"
        for old, new in _GATES.items()
    },
    **{
        rf"\bcontrollers\.{old}\.gain_weight$": f"{new}_message_gate.message_gate_proj.weight"
        for old, new in _GATES.items()
    },
}


class Inkling2Loop(Inkling):
    """Sizes specific to it: how many layers are passed several times, and the rank of the gates before their parts."""

    looped: int
    loop_gate_rank: int


class LoopReach(Reach):
    """The reach of a layer's attention, and whether the layer is passed several times."""

    looped: bool


def spec(c: Config) -> Spec:
    return whole_spec(c)


def blueprint(s: Spec) -> Block:
    return whole(s)


def text_spec(c: Config) -> Spec[Inkling2Loop]:
    """Inkling 2's language model, in which layers from loop_layer_index_start on are passed several times."""
    model, release = inkling2_spec(c), c.sub("loop_config")

    def loop(key: str, early: str) -> int:
        usual = c.int(key, minimum=0, maximum=MAX_LAYERS)
        least = 0 if early == "gate_rank" else 1  # as the class says of the keys that it makes of these
        given = None if release is None else release.int(early, default=None, minimum=least, maximum=MAX_LAYERS)
        if given is not None and early in _BOUNDS:
            keys.divides(c, _BLOCK, c.int(_BLOCK), f"loop_config.{early}", given)
        return usual if given is None else given

    start, end = loop("loop_layer_index_start", "core_start"), loop("loop_layer_index_end", "core_end")
    times, rank = loop("loop_num_passes", "num_passes"), loop("loop_gate_rank", "gate_rank")
    middle = Indices.span(start, max(start, end))
    layers = list[Layers]()
    for part in model.layers:
        within = intersection(part.indices, middle)
        for indices, looped in ((part.indices.difference(within), False), (within, True)):
            if indices.count:
                layers.append(Layers(indices=indices, layer=_passed(part.layer, looped, times)))
    kernel, gates = model.own.conv_kernel_size, keys.dim("r", rank)
    sizes = Inkling2Loop.read(c, conv_kernel_size=kernel, looped=middle.count, loop_gate_rank=gates)
    return model.replace(layers=tuple(layers)).having(sizes)


def _passed(layer: Layer, looped: bool, times: int) -> Layer:
    reach = layer.sizes(Reach)
    own = LoopReach(extent=reach.extent, full=reach.full, looped=looped)
    return layer.replace(own=own, repeats=int(times) if looped else 1)


def text_blueprint(s: Spec[Inkling2Loop]) -> Block:
    d, rank = s.hidden, s.own.loop_gate_rank
    gate = Tensor((d, rank))
    gates = block("other", down_weight=Tensor((rank, 2 * d)), forget_weight=gate, gain_weight=gate)

    def further(layer: Layer) -> dict[str, Node]:
        return {"controllers": block("other", **dict.fromkeys(_GATES, gates))} if layer.sizes(LoopReach).looped else {}

    queries = Tensor((2 * s.own.looped, d), component="other")
    names = ("middle_cycle_cross_pass_queries", "middle_cycle_cross_pass_kv_queries")
    return headed(s, altered(text_body(s, further), **dict.fromkeys(names, queries)))


PARTS = (
    families.Family(
        ("inkling2_loop_text",),
        text_spec,
        text_blueprint,
        ignored=IGNORED_TEXT,
        spellings=_TEXT_SPELLINGS,
    ),
)
