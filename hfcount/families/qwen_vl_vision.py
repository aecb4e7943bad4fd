"""The tower of the first Qwen-VL: OpenCLIP's layers, then a resampler (arXiv:2308.12966)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Dense, Layer, Patches, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("qwen_vl_vision",)  # modeling_qwen.py of Qwen/Qwen-VL, and visual.py beside it
IGNORED = ("image_size", "image_start_id")

_QUERIES = 256  # as the implementation has it, and as many places


class QwenVlVision(Sizes):
    """What this architecture alone has."""

    n_queries: int


def spec(c: Config) -> Spec[QwenVlVision]:
    d = c.int("width")
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        heads=("heads",),
        depth=("layers",),
        patches=Patches(side=c.int("patch_size"), channels=3),
        positions=_QUERIES,
        out=c.int("output_dim"),
    ).having(QwenVlVision.read(c, n_queries=keys.dim("n_q", c.int("n_queries", default=_QUERIES))))


def blueprint(s: Spec[QwenVlVision]) -> Block:
    d, out = s.hidden, s.output

    def attention(width: int, **fused: Tensor | Linear) -> Block:
        return block("attention", **fused, out_proj=Linear(width, width, True))

    def layer(one: Layer) -> Block:
        return block(
            ln_1=layer_norm(d),
            attn=attention(d, in_proj=Linear(d, 3 * d, True)),
            ln_2=layer_norm(d),
            mlp=mlp(d, one.dense.width, up="c_fc", down="c_proj"),
        )

    queries = Tensor((s.own.n_queries, out))
    pooling = block(
        "projector",
        query=queries,
        pos_embed=queries,
        kv_proj=Linear(d, out),
        attn=attention(out, in_proj_weight=Tensor((3 * out, out)), in_proj_bias=Tensor((3 * out,))),
        ln_q=layer_norm(out),
        ln_kv=layer_norm(out),
    )
    return block(
        conv1=patch_convolution(s, bias=False),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        ln_pre=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer)),
        attn_pool=pooling,
        ln_post=layer_norm(out),
        proj=Tensor((out, out), component="projector"),
    )
