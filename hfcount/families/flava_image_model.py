"""FLAVA's three encoders, of images, of texts, and of both, with layers like ViT's (arXiv:2112.04482)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.encoders import bert_embeddings
from hfcount.parts.vision import patch_convolution, vit_layer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = (
    "flava_image_model",
    "flava_text_model",
    "flava_multimodal_model",
)  # transformers 5.23: modeling_flava.py


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=c.bool("qkv_bias", default=True))
    layers = keys.alike(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    if c.family == "flava_text_model":
        types, rows = c.int("type_vocab_size"), c.int("max_position_embeddings")
        vocab = c.int("vocab_size")
        return keys.encoding(c, layers, hidden=d, vocab=vocab, positions=rows, traits={"type_vocab_size": types})
    if c.family == "flava_multimodal_model":
        return keys.encoding(c, layers, hidden=d, traits={"use_cls_token": c.bool("use_cls_token", default=True)})
    traits = {
        "mask_token": c.bool("mask_token", default=True),
        "codes": keys.sized("|V_v|", c.int("vocab_size")),  # of the head that names the code of a masked patch
    }
    return keys.encoding(c, layers, hidden=d, positions=keys.squares(c) + 1, patches=keys.patches(c), traits=traits)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    token = Tensor((1, 1, d), component="embedding")
    image = block(
        "embedding",
        cls_token=token,
        mask_token=token if s.traits.get("mask_token") else None,
        position_embeddings=Tensor((1, s.positions or 0, d)),
        patch_embeddings=block(projection=patch_convolution(s)) if s.patches else None,
    )
    tables = {"flava_image_model": image, "flava_text_model": bert_embeddings(s) if s.vocab else None}
    return block(
        cls_token=token if s.traits.get("use_cls_token") else None,
        embeddings=tables.get(s.family),
        encoder=block(layer=stack(s.layers, lambda one: vit_layer(d, one))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, d, True)),
    )
