"""Vision towers: the transformers that turn an image's patches into tokens for a language model."""

from hfcount.parts.ffn import mlp, swiglu
from hfcount.parts.model import embedding
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.spec import Vision
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block


def patches(v: Vision, bias: bool = True) -> Block:
    """The projection of a patch, as a convolution. Tensors: weight (d_v, channels, *patch) and, with `bias`, bias."""
    return block(
        weight=Tensor((v.hidden, v.channels, *v.patch)),
        bias=Tensor((v.hidden,)) if bias else None,
    )


def tower(v: Vision, layer: Node) -> Repeat:
    """N_v layers that are all alike."""
    return Repeat(Indices.below(v.layers), layer)


def class_token(v: Vision) -> Tensor:
    """A token that stands for the whole image: (d_v)."""
    return Tensor((v.hidden,))


def own_attention(v: Vision, bias: bool = True, out: str = "o_proj") -> Block:
    """Attention without shared heads. Tensors: q_proj, k_proj, v_proj and `out`, each (d_v, d_v)."""
    square = Linear(v.hidden, v.hidden, bias)
    return Block({"q_proj": square, "k_proj": square, "v_proj": square, out: square})


def fused_attention(v: Vision, bias: bool = True) -> Block:
    """The same with queries, keys and values in one. Tensors: qkv (3·d_v, d_v), proj (d_v, d_v), with biases."""
    return block(qkv=Linear(v.hidden, 3 * v.hidden, bias), proj=Linear(v.hidden, v.hidden, bias=True))


def clip(v: Vision) -> Block:
    """CLIP's tower (arXiv:2103.00020): a class token, positions (n_v, d_v), norms before and behind the layers."""
    d = v.hidden
    layer = block(
        layer_norm1=layer_norm(d),
        self_attn=own_attention(v, out="out_proj"),
        layer_norm2=layer_norm(d),
        mlp=mlp(d, v.width),
    )
    table = block(
        class_embedding=class_token(v),
        patch_embedding=patches(v, bias=False),
        position_embedding=embedding(v.positions or 0, d),
    )
    return block(
        "vision",
        embeddings=table,
        pre_layrnorm=layer_norm(d),
        encoder=block(layers=tower(v, layer)),
        post_layernorm=layer_norm(d),
    )


def siglip(v: Vision, head: bool, flat: bool = False) -> Block:
    """SigLIP's tower (arXiv:2303.15343); with `flat` SigLIP 2's (arXiv:2502.14786), whose patches come flattened.

    Tensors: a patch_embedding with bias and a position_embedding (n_v, d_v); layers with biases everywhere; a
    post_layernorm; with `head` attention pooling over a probe (1, 1, d_v).
    """
    d = v.hidden
    layer = block(
        layer_norm1=layer_norm(d),
        self_attn=own_attention(v, out="out_proj"),
        layer_norm2=layer_norm(d),
        mlp=mlp(d, v.width),
    )
    attention = block(
        in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, bias=True)
    )
    pooling = block(probe=Tensor((1, 1, d)), attention=attention, layernorm=layer_norm(d), mlp=mlp(d, v.width))
    flattened = Linear(v.channels * v.patch[0] * v.patch[1], d, bias=True)
    return block(
        "vision",
        embeddings=block(
            patch_embedding=flattened if flat else patches(v), position_embedding=embedding(v.positions or 0, d)
        ),
        encoder=block(layers=tower(v, layer)),
        post_layernorm=layer_norm(d),
        head=pooling if head else None,
    )


def pixtral(v: Vision) -> Block:
    """Pixtral's tower (arXiv:2410.07073): rotary positions, gated networks, no biases.

    Tensors: patch_conv, ln_pre (d_v), and layers of attention, feed_forward and a norm before each.
    """
    layer = block(
        attention_norm=rms_norm(v.hidden),
        attention=own_attention(v, bias=False),
        ffn_norm=rms_norm(v.hidden),
        feed_forward=swiglu(v.hidden, v.width),
    )
    return block(
        "vision",
        patch_conv=patches(v, bias=False),
        ln_pre=rms_norm(v.hidden),
        transformer=block(layers=tower(v, layer)),
    )


def internvit(v: Vision, norm_rms: bool, qkv_bias: bool, qk_normalization: bool) -> Block:
    """InternViT (arXiv:2312.14238): a class token, fused attention, and a scale (d_v) on each branch.

    Tensors: embeddings with class_embedding (1, 1, d_v), patch_embedding with bias and position_embedding (1, n_v,
    d_v); layers of attn, mlp, norm1, norm2, ls1 and ls2.
    """
    d = v.hidden
    norm, scale = (rms_norm(d) if norm_rms else layer_norm(d)), Tensor((d,))
    normed = block(q_norm=rms_norm(d), k_norm=rms_norm(d)).children if qk_normalization else {}
    layer = block(
        attn=Block({**fused_attention(v, qkv_bias).children, **normed}),
        mlp=mlp(d, v.width),
        norm1=norm,
        norm2=norm,
        ls1=scale,
        ls2=scale,
    )
    table = block(
        class_embedding=Tensor((1, 1, d)),
        patch_embedding=patches(v),
        position_embedding=Tensor((1, v.positions or 0, d)),
    )
    return block("vision", embeddings=table, encoder=block(layers=tower(v, layer)))


def molmo_vision(v: Vision, features: int, inner: int, out: int) -> Block:
    """Molmo's backbone (arXiv:2409.17146): CLIP's tower, attention that pools 2x2 patches, and a gated projector.

    Tensors: image_vit with its patches (d_v, 3·height·width) and positions (n_v, d_v); image_pooling_2d over the
    outputs of `features` layers; image_projector w1, w3 (inner, d_v) and w2 (out, inner); pad_embed (2, features·d_v).
    """
    d = v.hidden

    def attention(width: int) -> Block:
        narrow = Linear(width, d, bias=True)
        return block(wq=narrow, wk=narrow, wv=narrow, wo=Linear(d, d, bias=True))

    layer = block(
        attention=attention(d),
        feed_forward=mlp(d, v.width, up="w1", down="w2"),
        attention_norm=layer_norm(d),
        ffn_norm=layer_norm(d),
    )
    vit = block(
        class_embedding=class_token(v),
        positional_embedding=Tensor((v.positions or 0, d)),
        patch_embedding=Linear(v.channels * v.patch[0] * v.patch[1], d),
        pre_ln=layer_norm(d),
        transformer=block(resblocks=tower(v, layer)),
    )
    return block(
        "vision",
        image_vit=vit,
        image_pooling_2d=attention(features * d),
        image_projector=block(w1=Linear(d, inner), w2=Linear(inner, out), w3=Linear(d, inner)),
        pad_embed=Tensor((2, features * d)),
    )
