"""ViViT: ViT over patches that span frames of a video (arXiv:2103.15691)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config
from hfcount.spec import Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("vivit",)  # transformers 5.23: modeling_vivit.py
SPELLINGS = VIT

_HEADS = keys.named(("Model",), ForVideoClassification="image_classification")


def spec(c: Config) -> Spec:
    d, heads, span = c.int("hidden_size"), c.int("num_attention_heads"), keys.each(c, "tubelet_size", 3)
    if span[1] != span[2] or c.length("tubelet_size") != 3:
        raise c.error(
            "list-length", "tubelet_size must name frames, and the height and width of a square.", "tubelet_size"
        )
    bias = c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    patches = Patches(side=span[1], channels=c.int("num_channels"), frames=span[0])
    side = c.int("image_size") // span[1]
    rows = c.int("num_frames") // span[0] * (side * side) + 1
    out = c.int("pooler_output_size", default=None) or d
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches, out=out)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    layers = block(layer=stack(s.layers, lambda layer: vit_layer(d, layer)))
    pooled = block("other", dense=Linear(d, s.output, True)) if s.head == "base" else None
    body = block(embeddings=embeddings, encoder=layers, layernorm=layer_norm(d), pooler=pooled)
    return headed(s, "vivit", body, image_classification=block(classifier=classifier(s)))
