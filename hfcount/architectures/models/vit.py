"""ViT: an image as a sequence of patches (arXiv:2010.11929)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("vit",)  # transformers 5.23: modeling_vit.py
SPELLINGS = VIT

_HEADS = keys.named(("Model", "ForImageClassification"), ForMaskedImageModeling="masked_image")


class Vit(Sizes):
    encoder_stride: int = size("S", absent=16)
    pooler_output_size: int


def spec(c: Config) -> Spec[Vit]:
    d = keys.dim("d", c.int("hidden_size"))
    sizes = Vit.read(c, pooler_output_size=keys.dim("d_p", c.int("pooler_output_size", default=d)))
    bias, heads = c.bool("qkv_bias", default=True), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layer, rows = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.squares(c) + 1
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, tied=False, positions=rows, heads=_HEADS)
    return model.replace(causal=False, patches=keys.patches(c)).having(sizes)


def blueprint(s: Spec[Vit]) -> Block:
    d, strides = s.hidden, s.own.encoder_stride

    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        mask_token=Tensor((1, 1, d)) if s.head == "masked_image" else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    pooled = block("other", dense=Linear(d, s.own.pooler_output_size, True)) if s.head == "base" else None
    body = block(
        embeddings=embeddings,
        encoder=block(layer=stack(s.layers, lambda layer: vit_layer(d, layer))),
        layernorm=layer_norm(d),
        pooler=pooled,
    )
    pixels, labels = strides * strides * s.seen.channels, block(classifier=classifier(s))
    image = block(decoder=Block({"0": block("other", weight=Tensor((pixels, d, 1, 1)), bias=Tensor((pixels,)))}))
    return headed(s, "vit", body, image_classification=labels, masked_image=image)
