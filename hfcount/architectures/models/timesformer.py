"""TimeSformer: attention across the frames of a video, and within each (arXiv:2102.05095)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("timesformer",)  # transformers 5.23: modeling_timesformer.py

_HEADS = keys.named(("Model",), ForVideoClassification="image_classification")
_KINDS = ("divided_space_time", "space_only", "joint_space_time")


class Timesformer(Sizes):
    divided: bool
    num_frames: int = size("F")
    timed: bool


def spec(c: Config) -> Spec[Timesformer]:
    d, kind = c.int("hidden_size"), c.choice("attention_type", _KINDS, _KINDS[0])
    bias = c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    sizes = Timesformer.read(c, divided=kind == _KINDS[0], timed=kind != _KINDS[1])
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    rows, patches = keys.squares(c) + 1, keys.patches(c)
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches).having(sizes)


def blueprint(s: Spec[Timesformer]) -> Block:
    d, of, square = s.hidden, s.own, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        into = Linear(d, 3 * d, layer.attention.qkv_bias)
        attention = block("attention", attention=block(qkv=into), output=block(dense=square))
        divided: dict[str, Node] = {
            "temporal_layernorm": layer_norm(d),
            "temporal_attention": attention,
            "temporal_dense": Linear(d, d, True, "attention"),
        }
        return altered(vit_layer(d, layer, attention), **(divided if of.divided else {}))

    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
        time_embeddings=Tensor((1, of.num_frames, d)) if of.timed else None,
        patch_embeddings=block(projection=patch_convolution(s)),
    )
    body = block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)), layernorm=layer_norm(d))
    return headed(s, "timesformer", body, image_classification=block(classifier=classifier(s)))
