"""Vision towers: the transformers that turn an image's patches into tokens for a language model."""

from hfcount.spec import GQA, Vision
from hfcount.tree.block import Block, Linear, Node, Repeat, Tensor, block
from hfcount.tree.indices import Indices
from hfcount.tree.parts.ffn import mlp, swiglu
from hfcount.tree.parts.frames import embedding
from hfcount.tree.parts.norms import layer_norm, rms_norm


def patches(v: Vision, bias: bool = True) -> Block:
    """The projection of a patch, as a convolution. Tensors: weight (d_v, channels, *patch) and, with `bias`, bias."""
    return block(
        weight=Tensor((v.hidden, v.channels, *v.patch)),
        bias=Tensor((v.hidden,)) if bias else None,
    )


def tower(v: Vision, layer: Node) -> Repeat:
    """N_v layers that are all alike."""
    return Repeat(Indices.upto(v.layers), layer)


def own_attention(v: Vision, bias: bool = True, out: str = "o_proj") -> Block:
    """Attention without shared heads. Tensors: q_proj, k_proj, v_proj and `out`, each (d_v, d_v)."""
    square = Linear(v.hidden, v.hidden, bias)
    return Block({"q_proj": square, "k_proj": square, "v_proj": square, out: square})


def fused_attention(v: Vision, bias: bool = True) -> Block:
    """The same with queries, keys and values in one. Tensors: qkv (3·d_v, d_v), proj (d_v, d_v), with biases."""
    return block(qkv=Linear(v.hidden, 3 * v.hidden, bias), proj=Linear(v.hidden, v.hidden, bias=True))


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
        deepstack_merger_list=Repeat(Indices.upto(deep), merger(merged)) if deep else None,
    )


def class_token(v: Vision) -> Tensor:
    """A token that stands for the whole image: (d_v)."""
    return Tensor((v.hidden,))


def mllama_vision(v: Vision, deep: int, tiles: int, ratios: int) -> Block:
    """Llama 3.2's tower (arXiv:2407.21783, section 7): an image in `tiles`, in one of `ratios` arrangements.

    Tensors: a bare patch_embedding, class_embedding, positions (n_v, d_v) and, of each tile, (ratios + 1,
    tiles·n_v·d_v), gated; before and after the layers embeddings of tiles (ratios + 1, tiles·d_v), gated; two stacks of
    layers, the second, of `deep`, with gates.
    """
    d, gate = v.hidden, Tensor((1,))
    layer = block(
        self_attn=own_attention(v, bias=False),
        mlp=mlp(d, v.width),
        input_layernorm=layer_norm(d),
        post_attention_layernorm=layer_norm(d),
    )
    gated = Block({**layer.children, "gate_attn": gate, "gate_ffn": gate})
    positions = v.positions or 0
    of_tiles = block(embedding=embedding(ratios + 1, tiles * d), gate=gate)
    return block(
        "vision",
        class_embedding=class_token(v),
        patch_embedding=patches(v, bias=False),
        gated_positional_embedding=block(
            embedding=Tensor((positions, d)), gate=gate, tile_embedding=embedding(ratios + 1, tiles * positions * d)
        ),
        pre_tile_positional_embedding=of_tiles,
        post_tile_positional_embedding=of_tiles,
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        transformer=block(layers=tower(v, layer)),
        global_transformer=block(layers=Repeat(Indices.upto(deep), gated)) if deep else None,
    )


def llama4_vision(v: Vision, inner: int) -> Block:
    """Llama 4's tower (model card of meta-llama/Llama-4-Scout-17B-16E): as CLIP's, with an adapter on merged patches.

    Tensors: a patch projection (d_v, channels·height·width), class_embedding, positions (n_v, d_v), layers with biases
    everywhere, and the adapter's fc1 (inner, d_vf) and fc2 (out, out).
    """
    d = v.hidden
    layer = block(
        self_attn=own_attention(v),
        mlp=mlp(d, v.width),
        input_layernorm=layer_norm(d),
        post_attention_layernorm=layer_norm(d),
    )
    out = v.hidden if v.out is None else v.out
    return block(
        "vision",
        class_embedding=class_token(v),
        positional_embedding_vlm=Tensor((v.positions or 0, d)),
        patch_embedding=block(linear=Linear(v.channels * v.patch[0] * v.patch[1], d)),
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        model=block(layers=tower(v, layer)),
        vision_adapter=block(mlp=block(fc1=Linear(v.width, inner), fc2=Linear(out, out))),
    )


def gemma4_vision(v: Vision, a: GQA, clipped: bool, standardised: bool) -> Block:
    """Gemma 4's tower (model card of google/gemma-4-31B-it): positions of rows and of columns, Gemma's layers.

    Tensors: a patch projection (d_v, 3·height·width), a table (2, n_v, d_v), and layers with four norms, normalised
    queries and keys, and gated networks. Every projection is a `linear`, beside which `clipped` puts four bounds,
    scalar buffers; `standardised` adds std_bias and std_scale (d_v), buffers too.
    """
    d, query, keys = v.hidden, a.heads * a.head_dim, a.kv_heads * a.head_dim
    norm = rms_norm(d)
    attention = block(
        q_proj=clippable(d, query, clipped),
        k_proj=clippable(d, keys, clipped),
        v_proj=clippable(d, keys, clipped),
        o_proj=clippable(query, d, clipped),
        q_norm=rms_norm(a.head_dim),
        k_norm=rms_norm(a.head_dim),
    )
    network = block(
        gate_proj=clippable(d, v.width, clipped),
        up_proj=clippable(d, v.width, clipped),
        down_proj=clippable(v.width, d, clipped),
    )
    layer = block(
        self_attn=attention,
        mlp=network,
        input_layernorm=norm,
        post_attention_layernorm=norm,
        pre_feedforward_layernorm=norm,
        post_feedforward_layernorm=norm,
    )
    scale = Tensor((d,), "buffer") if standardised else None
    return block(
        "vision",
        patch_embedder=block(
            input_proj=Linear(v.channels * v.patch[0] * v.patch[1], d),
            position_embedding_table=Tensor((2, v.positions or 0, d)),
        ),
        encoder=block(layers=tower(v, layer)),
        std_bias=scale,
        std_scale=scale,
    )


def clippable(inputs: int, outputs: int, clipped: bool) -> Block:
    """A projection that may bound what goes in and what comes out. Tensors: linear, and four scalar buffers."""
    bound = Tensor((), "buffer") if clipped else None
    return block(linear=Linear(inputs, outputs), input_min=bound, input_max=bound, output_min=bound, output_max=bound)


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
