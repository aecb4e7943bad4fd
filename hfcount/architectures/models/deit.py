"""DeiT and I-JEPA: ViT with a token for distillation, and ViT without any (arXiv:2012.12877, arXiv:2301.08243)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("deit", "ijepa")  # transformers 5.23: modeling_deit.py, modeling_ijepa.py
SPELLINGS = VIT

_HEADS = keys.named(
    ("ForImageClassification", "Model"),
    ForImageClassificationWithTeacher="double_heads",
    ForMaskedImageModeling="masked_image",
)


class Deit(Sizes):
    tokens: int
    encoder_stride: int = size("S", absent=16)


def spec(c: Config) -> Spec[Deit]:
    d, tokens = c.int("hidden_size"), 2 if c.family == "deit" else 0
    heads, bias = c.int("num_attention_heads"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layer, rows = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.squares(c) + tokens
    sizes = Deit.read(c, tokens=tokens)
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, positions=rows, heads=_HEADS)
    out = c.int("pooler_output_size", default=None)
    return model.replace(causal=False, patches=keys.patches(c), out=out).having(sizes)


def blueprint(s: Spec[Deit]) -> Block:
    d, distilled = s.hidden, s.family == "deit"
    token, labels = Tensor((1, 1, d)), classifier(s)
    embeddings = block(
        "embedding",
        cls_token=token if distilled else None,
        distillation_token=token if distilled else None,
        mask_token=token if s.head == "masked_image" else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    pooled = block("other", dense=Linear(d, s.out or d, True)) if distilled and s.head == "base" else None
    layers = block(layer=stack(s.layers, lambda layer: vit_layer(d, layer)))
    body = block(embeddings=embeddings, encoder=layers, layernorm=layer_norm(d), pooler=pooled)
    taught = block(cls_classifier=labels, distillation_classifier=labels)
    pixels = s.own.encoder_stride * s.own.encoder_stride * s.seen.channels
    image = Block({"0": block("other", weight=Tensor((pixels, d, 1, 1)), bias=Tensor((pixels,)))})
    classes = {"image_classification": block(classifier=labels), "double_heads": taught}
    return headed(s, s.family, body, masked_image=block(decoder=image), **classes)
