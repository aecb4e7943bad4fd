"""Molmo: OLMo's layers, with extra rows for the tokens of images, and CLIP's tower (arXiv:2409.17146)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.vision import patch_projection
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("molmo",)  # modeling_molmo.py of allenai/Molmo-7B-D-0924


class Molmo(Sizes):
    rms: int
    additional_vocab: int


def spec(c: Config) -> Spec[Molmo]:
    width, kind = c.int("intermediate_size"), c.str("layer_norm_type", default="rms")
    if width % 2:
        raise c.error(
            "not-divisible",
            f"intermediate_size {width:,} counts two projections, so it must be even.",
            "intermediate_size",
        )
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", default=False), indivisible="refused")
    mixer = mixer.replace(qk_norm="width" if c.bool("attention_layer_norm", default=False) else False)
    sizes = Molmo.read(c, rms=int(kind == "rms"), additional_vocab=128)
    vocab = c.int("embedding_size", default=None) or c.int("vocab_size")
    layer = Layer(mixer=mixer, ffn=Dense(width=width // 2))
    towers = {"vision": families.read(c.as_part(), "molmo_vision")}
    model = keys.decoder_spec(c, layer, heads=("ForCausalLM",), vocab=vocab, parts=towers)
    return model.replace(tied=c.bool("weight_tying", default=False)).having(sizes)


def blueprint(s: Spec[Molmo]) -> Block:
    d = s.hidden
    norm = rms_norm(d) if s.own.rms else layer_norm(d, bias=False)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        inner = a.heads * a.head_dim
        return block(
            att_proj=Linear(d, inner + 2 * (a.kv_heads * a.head_dim), a.qkv_bias, component="attention"),
            attn_out=Linear(inner, d, component="attention"),
            q_norm=rms_norm(inner) if a.qk_norm else None,
            k_norm=rms_norm(a.kv_heads * a.head_dim) if a.qk_norm else None,
            attn_norm=norm,
            ff_norm=norm,
            ff_proj=Linear(d, 2 * width, component="mlp"),
            ff_out=Linear(width, d, component="mlp"),
        )

    table = block("embedding", embedding=Tensor((s.vocab, d)), new_embedding=Tensor((s.own.additional_vocab, d)))
    text = block(
        wte=table,
        blocks=stack(s.layers, layer_block),
        ln_f=norm,
        ff_out=None if s.tied else Linear(d, s.vocab, component="lm_head"),
    )
    # Two layers' outputs are pooled, 2x2 patches at a time, and projected by a network as wide as the layers'.
    vision_width, width = s.part("vision").hidden, s.layers[0].layer.dense.width
    vision = block(
        image_vit=families.tower(s, "vision"),
        image_pooling_2d=Block(_pooling_attention(2 * vision_width, vision_width).children, "projector"),
        image_projector=block(
            "projector", w1=Linear(vision_width, width), w2=Linear(width, d), w3=Linear(vision_width, width)
        ),
        pad_embed=Tensor((2, 2 * vision_width), component="projector"),
    )
    return block(model=block(transformer=text, vision_backbone=vision))


def vision_spec(c: Config) -> Spec:
    """Molmo's vision tower, which is CLIP's under other names (arXiv:2409.17146)."""
    # No config describes the tower: it is the implementation's, CLIP ViT-L/14 of 336 pixels without its last layer.
    layer = Layer(mixer=GQA(heads=16, kv_heads=16, head_dim=64), ffn=Dense(width=4096, bias=True))
    patches = Patches(side=14, channels=3)
    return keys.encoding(c, keys.uniform(layer, 23), hidden=1024, patches=patches, positions=577)


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=_pooling_attention(d, d),
            feed_forward=mlp(d, layer.dense.width, up="w1", down="w2"),
            attention_norm=layer_norm(d),
            ffn_norm=layer_norm(d),
        )

    return block(
        class_embedding=Tensor((d,), component="embedding"),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        patch_embedding=patch_projection(s),
        pre_ln=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer_block)),
    )


def _pooling_attention(width: int, d: int) -> Block:
    """Attention of width d to tokens of another `width`. Tensors: wq, wk, wv (d, width), wo (d, d), with biases."""
    narrow = Linear(width, d, bias=True)
    return block("attention", wq=narrow, wk=narrow, wv=narrow, wo=Linear(d, d, bias=True))


PARTS = (families.Family(("molmo_vision",), vision_spec, vision_blueprint),)
