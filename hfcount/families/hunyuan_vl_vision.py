"""HunYuan-VL's vision tower: patches merged by convolutions, with tokens before and behind them (arXiv:2511.19575)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm as norm
from hfcount.parts import mlp, pre_norm, rms_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import convolution, patch_convolution, square_attention
from hfcount.spec import Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("hunyuan_vl_vision",)  # transformers 5.23: modeling_hunyuan_vl.py
_MARKS = ("newline", "begin", "end", "sep")
IGNORED = (
    "img_max_token_num",
    "max_vit_seq_len",
    "min_image_size",
    "num_key_value_heads",
    "out_hidden_size",
    "temporal_patch_size",
)


class HunyuanVlVision(Sizes):
    """What this architecture alone has."""

    within: int


def spec(c: Config) -> Spec[HunyuanVlVision]:
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    side = c.int("max_image_size") // patches.side
    return (
        keys.tower(
            c,
            indivisible="built",
            patches=patches,
            positions=side * side + 1,
            out=c.int("text_hidden_size"),
            further={"Transformer": "base"},
        )
        .replace(adapted=c.nested)
        .having(HunyuanVlVision.read(c, within=c.nested))
    )


def blueprint(s: Spec[HunyuanVlVision]) -> Block:
    d, out, within = s.hidden, s.output, s.own.within
    up, down = ("dense_h_to_4h", "dense_4h_to_h") if within else ("fc1", "fc2")

    def layer(one: Layer) -> Block:
        attention, network = square_attention(d), mlp(d, one.dense.width, up=up, down=down)
        if s.adapted:
            return pre_norm(d, norm, self_attn=attention, mlp=network)
        return block(layer_norm1=norm(d), self_attn=attention, layer_norm2=norm(d), mlp=network)

    first, second = convolution(d, 2 * d, s.seen.merge), convolution(2 * d, 4 * d, 1)
    merging = {"proj": Block({"0": first, "2": second})} if within else {"proj_conv": first, "proj_out": second}
    marks = {f"image_{name}": Tensor((4 * d if name == "newline" else out,)) for name in _MARKS}
    norms = {"before_rms": rms_norm(d), "after_rms": rms_norm(out)}
    merger = Block({**merging, **marks, "mlp": Linear(4 * d, out, True), **norms}, "projector")
    return Block(
        {
            "embeddings": block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
            "layers": stack(s.layers, layer),
            "perceive" if within else "patch_merger": merger,
        }
    )
