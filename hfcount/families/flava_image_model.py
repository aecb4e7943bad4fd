"""FLAVA's three encoders, of images, of texts, and of both, with layers like ViT's (arXiv:2112.04482)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.encoders import bert_embeddings
from hfcount.parts.vision import patch_convolution, vit_layer
from hfcount.spec import Layer, Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = (
    "flava_image_model",
    "flava_text_model",
    "flava_multimodal_model",
)  # transformers 5.23: modeling_flava.py


class FlavaImageModel(Sizes):
    """What the encoder of images alone has; `codes` are those of the head that names a masked patch."""

    mask_token: bool = flag(absent=True)
    codes: int = size("|V_v|", "vocab_size")


class FlavaMultimodalModel(Sizes):
    """What the encoder of both alone has."""

    use_cls_token: bool = flag(absent=True)


def spec(c: Config) -> Spec[FlavaImageModel | FlavaMultimodalModel | None]:
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=c.bool("qkv_bias", default=True))
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    if c.family == "flava_text_model":
        types, rows = c.int("type_vocab_size"), c.int("max_position_embeddings")
        vocab = c.int("vocab_size")
        whole = keys.encoding(c, layers, hidden=d, vocab=vocab, positions=rows, token_types=types)
        return whole.having(None)
    if c.family == "flava_multimodal_model":
        both = FlavaMultimodalModel.read(c)
        return keys.encoding(c, layers, hidden=d).having(both)
    own = FlavaImageModel.read(c)
    return keys.encoding(c, layers, hidden=d, positions=keys.squares(c) + 1, patches=keys.patches(c)).having(own)


def blueprint(s: Spec[FlavaImageModel | FlavaMultimodalModel | None]) -> Block:
    d, of = s.hidden, s.own
    token = Tensor((1, 1, d), component="embedding")
    image = block(
        "embedding",
        cls_token=token,
        mask_token=token if isinstance(of, FlavaImageModel) and of.mask_token else None,
        position_embeddings=Tensor((1, s.positions or 0, d)),
        patch_embeddings=block(projection=patch_convolution(s)) if s.patches else None,
    )
    tables = {"flava_image_model": image, "flava_text_model": bert_embeddings(s) if s.vocab else None}
    return block(
        cls_token=token if isinstance(of, FlavaMultimodalModel) and of.use_cls_token else None,
        embeddings=tables.get(s.family),
        encoder=block(layer=stack(s.layers, lambda one: vit_layer(d, one))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, d, True)),
    )
