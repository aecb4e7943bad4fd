"""The vision towers of Qwen's models, and of those that go by them."""

from hfcount.parts.ffn import mlp, swiglu
from hfcount.parts.model import embedding
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.parts.vision import fused_attention, patches, tower
from hfcount.spec import Vision
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


def qwen2_vision(v: Vision) -> Block:
    """Qwen2-VL's tower (arXiv:2409.12191): rotary positions, and a merger of merge² patches into one token.

    Tensors: a bare patch_embed; blocks with biases everywhere; the merger's norm and its two linears, the first
    square on merge²·d_v, the second to `out`.
    """
    return _qwen(v, layer_norm(v.hidden), mlp(v.hidden, v.width))


def qwen2_5_vision(v: Vision) -> Block:
    """Qwen2.5-VL's tower (arXiv:2502.13923): as Qwen2-VL's, with RMSNorm and gated networks that have biases."""
    return _qwen(v, rms_norm(v.hidden), swiglu(v.hidden, v.width, bias=True))


def _qwen(v: Vision, norm: Block, network: Block) -> Block:
    merged = v.merge * v.merge * v.hidden
    out = v.hidden if v.out is None else v.out
    merger = Block({"0": Linear(merged, merged, bias=True), "2": Linear(merged, out, bias=True)})
    return block(
        "vision",
        patch_embed=block(proj=patches(v, bias=False)),
        blocks=tower(v, block(norm1=norm, norm2=norm, attn=fused_attention(v), mlp=network)),
        merger=block(ln_q=norm, mlp=merger),
    )


def qwen3_vision(v: Vision, deep: int = 0) -> Block:
    """Qwen3-VL's tower (arXiv:2511.21631): a table of positions, and mergers after some of the layers too.

    Tensors: a patch_embed with bias; pos_embed (n_v, d_v); blocks with biases everywhere; the merger's norm (d_v) and
    its two linears; `deep` further mergers, whose norm comes after the merging: (merge²·d_v).
    """
    merged = v.merge * v.merge * v.hidden
    out = v.hidden if v.out is None else v.out

    def merger(norm: int) -> Block:
        return block(
            norm=layer_norm(norm),
            linear_fc1=Linear(merged, merged, bias=True),
            linear_fc2=Linear(merged, out, bias=True),
        )

    layer = block(
        norm1=layer_norm(v.hidden),
        norm2=layer_norm(v.hidden),
        attn=fused_attention(v),
        mlp=mlp(v.hidden, v.width, up="linear_fc1", down="linear_fc2"),
    )
    return block(
        "vision",
        patch_embed=block(proj=patches(v)),
        pos_embed=embedding(v.positions or 0, v.hidden),
        blocks=tower(v, layer),
        merger=merger(v.hidden),
        deepstack_merger_list=Repeat(Indices.below(deep), merger(merged)) if deep else None,
    )


def glm4v_vision(v: Vision, merger: int, bias: bool) -> Block:
    """GLM-4.1V's tower (arXiv:2507.01006): gated networks as wide as the output, then merging by a convolution.

    Tensors: patch_embed with bias, a norm behind it, positions (n_v, d_v), blocks, a norm, downsample (out, d_v,
    merge, merge), and the merger: proj (out, out), its norm, and a gated network of `merger`.
    """
    d, out = v.hidden, v.hidden if v.out is None else v.out
    attention = block(qkv=Linear(d, 3 * d, bias), proj=Linear(d, d))
    layer = block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, mlp=swiglu(d, v.width))
    merging = block(proj=Linear(out, out), post_projection_norm=layer_norm(out))
    return block(
        "vision",
        embeddings=block(position_embedding=embedding(v.positions or 0, d)),
        patch_embed=block(proj=patches(v)),
        blocks=tower(v, layer),
        merger=Block({**merging.children, **swiglu(out, merger).children}),
        post_conv_layernorm=rms_norm(d),
        downsample=block(weight=Tensor((out, d, v.merge, v.merge)), bias=Tensor((out,))),
        post_layernorm=rms_norm(d),
    )
