"""Step: the layers of 3.5, whose lists may also cover the layers that predict further tokens, and the vision towers."""

from collections.abc import Callable, Mapping

from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.attention import attention
from hfcount.architectures.layers.ffn import read_moe
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import by_kind, combined, split
from hfcount.architectures.layers.vision import convolution
from hfcount.architectures.layers.windows import extent, within
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec, Window
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

_LOCAL = "sliding_attention"


def step_layers(c: Config) -> tuple[list[Layers], list[Layers]]:
    """The layers, and those after them that predict further tokens.

    Source: transformers 5.23, configuration_step3p7.py, Step3p7TextConfig.
    """
    count = layer_count(c, "num_hidden_layers")
    more = c.int("num_nextn_predict_layers", "num_mtp_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    late = Indices.span(count, count + more)
    placed = combined(_mixers(c, count, late), _networks(c, count, late))
    marked = [part.replace(layer=part.layer.replace(mtp=True)) for part in _among(placed, late)]
    return _among(placed, Indices.below(count)), marked


def step_windows(c: Config) -> tuple[Window, ...]:
    """Windows in the layers that layer_types calls sliding_attention."""
    size, given = extent(c, "sliding_window"), c.strs("layer_types")[: layer_count(c, "num_hidden_layers")]
    return within(Indices.of(place for place, kind in enumerate(given) if kind == _LOCAL), size) if size else ()


def _among(some: list[Layers], places: Indices) -> list[Layers]:
    cut = [part.replace(indices=intersection(part.indices, places)) for part in some]
    return [part for part in cut if part.indices.count]


def _listed(
    c: Config, key: str, kinds: Mapping[str, Callable[[], Layer]], count: int, late: Indices
) -> list[Layers] | None:
    """The layers by a list of kinds; the later ones by the same list, by `mtp_` + key, or of the first kind."""
    given, tail = c.strs(key), c.strs(f"mtp_{key}")
    if not given:
        return None
    if len(given) == count:
        given += tail
    total = count if len(given) == count else count + int(late.count)
    first, usual = next(iter(kinds.items()))
    layers = by_kind(c, kinds, given, key, count=total, otherwise=first)
    return layers if total > count or not late.count else [*layers, Layers(indices=late, layer=usual())]


def _mixers(c: Config, count: int, late: Indices) -> list[Layers]:
    def read(config: Config) -> GQA:
        return attention(config, bias=c.bool("attention_bias", default=False), qk_norm=True)

    usual, total = read(c), count + int(late.count)
    other = c.sub("attention_other_setting")
    heads = c.int("num_sliding_attention_heads", default=None)
    if heads is None:
        heads = other.int("num_attention_heads", default=usual.heads) if other else usual.heads
    per_layer = c.given("per_layer_config")
    near = usual if per_layer else usual.replace(heads=heads)
    kinds = {"full_attention": lambda: Layer(mixer=usual), _LOCAL: lambda: Layer(mixer=near)}
    placed = _listed(c, "layer_types", kinds, count, late)
    placed = placed or [Layers(indices=Indices.below(total), layer=Layer(mixer=usual))]
    if not per_layer:
        return placed
    some = [(Indices.of(numbers), read(config)) for numbers, config in overrides(c, ("num_attention_heads",), count)]
    rest = Indices.below(total).difference(*(part for part, _ in some))
    made = [Layers(indices=part, layer=Layer(mixer=mixer)) for part, mixer in ((rest, usual), *some)]
    return combined(made, placed)


def _networks(c: Config, count: int, late: Indices) -> list[Layers]:
    bias = c.bool("mlp_bias", default=False)

    def experts() -> MoE:
        among, active = (
            ("n_routed_experts", "moe_num_experts", "num_local_experts"),
            ("num_experts_per_tok", "moe_top_k"),
        )
        routed = read_moe(c, "moe_intermediate_size", experts=among, active=active)
        return routed.replace(shared=c.int("share_expert_dim", "share_expert_dims"), bias=bias)

    def sparse() -> Layer:
        return Layer(ffn=experts())

    def dense() -> Layer:
        return Layer(ffn=Dense(width=c.int("intermediate_size"), bias=bias))

    placed = _listed(c, "mlp_layer_types", {"dense": dense, "sparse": sparse}, count, late)
    if placed:
        return placed
    every, named = Indices.below(count + int(late.count)), _enumerated(c)
    some = Indices.span(3, max(3, count)) if named is None else intersection(Indices.of(named), every)
    return split((some, sparse), (every.difference(some), dense))


def _enumerated(c: Config) -> list[int] | None:
    """The layers that moe_layers_enum names, as numbers or in a text with commas between them; None if it is absent."""
    if not c.given("moe_layers_enum"):
        return None
    if not isinstance(c.value("moe_layers_enum"), str):
        return list(c.ints("moe_layers_enum"))
    words = [word.strip() for word in c.strs("moe_layers_enum", parted=",")]
    if not all(word.isdecimal() and len(word) < 10 for word in words if word):
        raise c.error(
            "unknown-kind",
            "moe_layers_enum must be numbers with commas between them.",
            "moe_layers_enum",
            "Correct it.",
        )
    return [int(word) for word in words if word]


def layers_and_downsamplers(s: Spec, scaled: bool = True) -> dict[str, Node]:
    """The layers and the downsampling convolutions behind them, for a width of d.

    Tensors of a layer: ln_1 and ln_2 (d), attn.in_proj (3d, d) and out_proj (d, d), mlp.c_fc and c_proj, all with bias,
    and ls_1.gamma and ls_2.gamma (d) if `scaled`. Then kernels of 3 by 3 from d to 2d, and from 2d to 4d.
    """
    d = s.hidden
    scale = block("other", gamma=Tensor((d,))) if scaled else None
    fused = block(
        "attention", in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, bias=True)
    )

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, up="c_fc", down="c_proj")
        return block(ln_1=layer_norm(d), ln_2=layer_norm(d), attn=fused, mlp=network, ls_1=scale, ls_2=scale)

    return {
        "transformer": block(resblocks=stack(s.layers, layer_block)),
        "vit_downsampler1": convolution(d, 2 * d, 3),
        "vit_downsampler2": convolution(2 * d, 4 * d, 3),
    }
