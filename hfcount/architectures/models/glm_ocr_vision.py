"""GLM-OCR's and GLM-5-Next's vision tower: normalised queries and keys (https://huggingface.co/zai-org)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("glm_ocr_vision", "glm5_next_vision")  # transformers 5.23: modeling_glm_ocr.py, modeling_glm5_next.py


class GlmOcrVision(Sizes):
    """Sizes specific to this tower; `projected` is the width of GLM-5-Next's projector."""

    attention_bias: bool = flag(absent=True)
    projected: int | None = derived(
        lambda c: keys.dim("d_p", c.int("projection_intermediate_size")) if c.family == "glm5_next_vision" else None
    )


def spec(c: Config) -> Spec[GlmOcrVision]:
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    sizes = GlmOcrVision.read(c)
    return keys.tower(
        c,
        ffn=Dense(width=c.int("intermediate_size"), bias=True),
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=keys.patches(c, "in_channels", frames=frames, merge=merge),
        out=c.int("out_hidden_size"),
    ).having(sizes)


def blueprint(s: Spec[GlmOcrVision]) -> Block:
    d, out, m, bias = s.hidden, s.out or s.hidden, s.seen.merge, s.own.attention_bias
    head = rms_norm(s.layers[0].layer.attention.head_dim)
    attention = altered(fused_square_attention(d, bias, bias), q_norm=head, k_norm=head)

    def layer_block(layer: Layer) -> Block:
        network = swiglu(d, layer.dense.width, bias)
        return block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, mlp=network)

    wide = out * s.seen.channels if s.own.projected is None else s.own.projected
    merging = block(proj=Linear(out, out), post_projection_norm=layer_norm(out)).children
    return block(
        patch_embed=block(proj=patch_convolution(s)),
        blocks=stack(s.layers, layer_block),
        merger=Block({**merging, **swiglu(out, wide).children}, "projector"),
        downsample=block("projector", weight=Tensor((out, d, m, m)), bias=Tensor((out,))),
        post_layernorm=rms_norm(d),
    )
