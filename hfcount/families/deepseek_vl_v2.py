"""DeepSeek-VL2: SigLIP's tower, whose places are joined by fours, before DeepSeek-V2 (arXiv:2412.10302)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("deepseek_vl_v2",)  # modeling_deepseek_vl_v2.py of deepseek-ai/DeepSeek-VL2
IGNORED = ("candidate_resolutions",)

_PROJECTORS = ("linear", "mlp_gelu", "downsample_mlp_gelu")


class DeepseekVlV2(Sizes):
    """What this architecture alone has."""

    seen: int
    out: int
    joined: int
    widened: int
    depth: int
    single: bool
    token_pooling: bool


def spec(c: Config) -> Spec[DeepseekVlV2]:
    heads = keys.named(VLV2ForCausalLM="causal_lm")
    keys.head_of(c, heads)  # other classes have this type, too, and other keys
    text = families.part(c, "language_config", "deepseek_vl_v2_text")
    vision = families.part(c, "vision_config", "deepseek_vl_v2_vision")
    own, tag = c.part("projector_config"), c.str("tile_tag", default="tile_tag")
    kind = own.str("projector_type", default="downsample_mlp_gelu")
    if kind not in _PROJECTORS:
        raise own.error("projector_type names a projector that is not described.", "projector_type", observed=kind)
    if tag != "2D":
        raise c.error("tile_tag is not 2D, for which alone the model has weights.", "tile_tag", observed=tag)
    side = own.int("downsample_ratio", default=2)
    sizes = DeepseekVlV2.read(
        c,
        seen=keys.dim("d_p", own.int("input_dim", default=1152)),
        out=keys.dim("d_o", own.int("n_embed", default=2048)),
        joined=side * side if kind == _PROJECTORS[2] else 1,
        widened=own.int("mlp_ratio", default=1) if kind == _PROJECTORS[2] else 1,
        depth=max(own.int("depth", default=2, maximum=MAX_LAYERS), 2 if kind == _PROJECTORS[2] else 1),
        single=kind == "linear",
        token_pooling=own.bool("token_pooling", default=False),
    )
    return keys.composite(c, text, {"vision": vision}, key="language_config", heads=heads).having(sizes)


def blueprint(s: Spec[DeepseekVlV2]) -> Block:
    of = s.own
    seen, out, last = of.seen, of.out, 2 * (int(of.depth) - 1)
    first, wide = of.joined * seen, of.widened * out

    def linear(places: range, inputs: int, outputs: int) -> Repeat:  # an activation follows each but the last
        return Repeat(Indices.of(places), Linear(inputs, outputs, True))

    ends = linear(range(1), first, wide if last else out), linear(range(last, last + 1), wide, out)
    chain = (ends[0], linear(range(2, last, 2), wide, wide), ends[1]) if last > 2 else ends[: 1 + bool(last)]
    layers = Linear(first, out, True) if of.single else chain
    pooling = Linear(4 * seen, seen, True) if of.token_pooling else None
    return block(
        language=rebased(families.tree(s.parts["text"]), "language"),
        vision=families.tower(s, "vision"),
        projector=block("projector", layers=layers, token_pooling_layer=pooling),
        image_newline=Tensor((out,), component="projector"),
        view_seperator=Tensor((out,), component="projector"),
    )
