"""Vision towers of Qwen2-VL and Qwen2.5-VL: rotary positions, merged patches (arXiv:2409.12191, arXiv:2502.13923)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack, swiglu
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_qwen2_vl.py, modeling_qwen2_5_vl.py, modeling_qwen2_5_omni.py
MODEL_TYPES = ("qwen2_vl_vision", "qwen2_5_vl_vision", "qwen2_5_omni_vision_encoder")
IGNORED = ("fullatt_block_indexes", "spatial_patch_size", "tokens_per_second", "window_size")


class Qwen2VlVision(Sizes):
    gated: bool
    fused: bool


def spec(c: Config) -> Spec[Qwen2VlVision]:
    gated = c.family != "qwen2_vl_vision"
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    d = c.int("hidden_size" if gated else "embed_dim")
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.int("intermediate_size") if gated else d * c.int("mlp_ratio"), bias=True),
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=keys.patches(c, "in_channels", "in_chans", frames=frames, merge=merge),
        out=c.int("out_hidden_size" if gated else "hidden_size"),
    ).having(Qwen2VlVision.read(c, gated=gated, fused=c.family != "qwen2_5_omni_vision_encoder"))


def blueprint(s: Spec[Qwen2VlVision]) -> Block:
    d, gated = s.hidden, s.own.gated
    square = Linear(d, d, True)
    split = block("attention", q=square, k=square, v=square, proj=square)
    attention = fused_square_attention(d) if s.own.fused else split
    norm, merged = rms_norm(d) if gated else layer_norm(d), s.seen.merged(d)

    def layer_block(layer: Layer) -> Block:
        network = swiglu(d, layer.dense.width, bias=True) if gated else mlp(d, layer.dense.width)
        return block(norm1=norm, norm2=norm, attn=attention, mlp=network)

    merger = {"0": Linear(merged, merged, bias=True), "2": Linear(merged, s.output, bias=True)}
    return block(
        patch_embed=block(proj=patch_convolution(s, bias=False)),
        blocks=stack(s.layers, layer_block),
        merger=block("projector", ln_q=norm, mlp=Block(merger)),
    )
