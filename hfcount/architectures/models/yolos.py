"""YOLOS: a ViT with tokens for detections, and tables of positions at each layer (arXiv:2106.00666)."""

from hfcount.architectures import keys
from hfcount.architectures.components.detection import perceptron
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.conversions import VIT_ATTENTION
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("yolos",)  # transformers 5.23: modeling_yolos.py
SPELLINGS = {r"encoder\.interpolation\.mid_position_embeddings": "encoder.mid_position_embeddings", **VIT_ATTENTION}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class Yolos(Sizes):
    num_detection_tokens: int
    mid: int
    use_mid_position_embeddings: bool = flag(absent=True)


def spec(c: Config) -> Spec[Yolos]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    layer = Layer(
        mixer=keys.multi_head(c, d, heads, qkv_bias=c.bool("qkv_bias", default=True)), ffn=keys.dense(c, bias=True)
    )
    tokens, (high, wide) = c.int("num_detection_tokens", minimum=0), keys.sides(c, "image_size")
    patches, side = keys.patches(c), c.int("patch_size")
    sizes = Yolos.read(
        c,
        num_detection_tokens=keys.dim("n_d", tokens),
        mid=keys.dim("n_m", 1 + high * wide // (side * side) + tokens),
    )
    rows = keys.rectangle(c) + tokens + 1
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows)
    return model.replace(causal=False, patches=patches).having(sizes)


def blueprint(s: Spec[Yolos]) -> Block:
    d, of = s.hidden, s.own
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        detection_tokens=Tensor((1, of.num_detection_tokens, d)),
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    mid = Tensor((s.depth - 1, 1, of.mid, d), component="embedding") if of.use_mid_position_embeddings else None
    body = block(
        embeddings=embeddings,
        encoder=block(mid_position_embeddings=mid, layer=stack(s.layers, lambda layer: vit_layer(d, layer))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, d, True)) if s.head == "base" else None,
    )
    predictors = block(class_labels_classifier=perceptron(d, d, d, s.labels + 1), bbox_predictor=perceptron(d, d, d, 4))
    return headed(s, "vit", body, object_detection=predictors)
