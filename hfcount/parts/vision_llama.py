"""The vision towers of Llama's models."""

from hfcount.parts.ffn import mlp
from hfcount.parts.model import embedding
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import class_token, own_attention, patches, tower
from hfcount.spec import Vision
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


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
        global_transformer=block(layers=Repeat(Indices.below(deep), gated)) if deep else None,
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
