"""SuperGlue: matches keypoints of two images by attention within and between them (arXiv:1911.11763)."""

from itertools import pairwise

from hfcount.architectures import families, keys
from hfcount.architectures.layers import stack
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.encoders import bert_attention
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("superglue",)  # transformers 5.23: modeling_superglue.py
IGNORED = ("sinkhorn_iterations",)

_HEADS = keys.named(ForKeypointMatching="base")
_PLACE = 3  # x, y and score of a keypoint


class SuperGlue(Record):
    """Sizes specific to SuperGlue: the widths through which keypoints are encoded."""

    steps: tuple[int, ...]


def spec(c: Config) -> Spec[SuperGlue]:
    d, steps = c.int("hidden_size"), c.ints("keypoint_encoder_sizes", default=(32, 64, 128, 256))
    kinds = c.strs("gnn_layers_types") or ["self", "cross"] * 9
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")))
    sizes = SuperGlue(steps=tuple(keys.dim(f"C{place}", step) for place, step in enumerate(steps, 1)))
    parts = {"keypoints": families.part(c, "keypoint_detector_config")}
    layers = keys.uniform(layer, len(kinds))
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts)
    return model.replace(causal=False).having(sizes)


def _perceptron(inputs: int, outputs: int) -> Block:
    return block("mlp", linear=Linear(inputs, outputs, True), batch_norm=batch_norm(outputs))


def blueprint(s: Spec[SuperGlue]) -> Block:
    d, widths = s.hidden, [_PLACE, *s.own.steps, s.hidden]
    steps: dict[str, Block | Linear] = {}
    for place, (into, out) in enumerate(pairwise(widths[:-1])):
        steps[str(place)] = _perceptron(into, out)
    steps[str(len(widths) - 2)] = Linear(widths[-2], d, True)

    def layer_block(layer: Layer) -> Block:
        network = Block({"0": _perceptron(2 * d, 2 * d), "1": Linear(2 * d, d, True)}, "mlp")
        return block(attention=bert_attention(d, layer.attention, norm=False), mlp=network)

    return block(
        bin_score=Tensor((), component="other"),
        keypoint_detector=families.tree(s.part("keypoints")),
        keypoint_encoder=block("embedding", encoder=Block(steps)),
        gnn=block(layers=stack(s.layers, layer_block)),
        final_projection=block("other", final_proj=Linear(d, d, True)),
    )
