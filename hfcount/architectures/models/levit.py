"""LeViT: attention with learned biases of distances, batch normalisation after every matrix (arXiv:2104.01136)."""

from collections.abc import Sequence
from typing import Any

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import batch_norm, normed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block
from hfcount.text import shown

MODEL_TYPES = ("levit",)  # transformers 5.23: modeling_levit.py
IGNORED = ("stride", "padding")

_HEADS = keys.named(("ForImageClassification", "Model"), ForImageClassificationWithTeacher="double_heads")
_STAGES = 3
_SUBSAMPLED = "Subsample"


class Following(Record):
    """The attention that leads to the next stage, which is `width` wide; `wider` is its network, 0 for none."""

    width: int
    heads: int
    key_dim: int
    ratio: int
    wider: int


class LevitLayer(Record):
    """Sizes specific to a layer of LeViT: places along a side of the image, and what follows its stage."""

    side: int
    following: Following | None


class Levit(Sizes):
    num_channels: int = size("C")
    kernel_size: int = size("w")


def spec(c: Config) -> Spec[Levit]:
    depths, side = c.ints("depths", least=1), c.int("image_size") // c.int("patch_size")
    count = len(depths)
    if count > _STAGES:
        raise c.error("out-of-range", f"depths names {count:,} stages, and there are at most {_STAGES}.", "depths")
    widths, dims = keys.each(c, "hidden_sizes", _STAGES, "d"), keys.each(c, "key_dim", count, "h_d")
    heads, ratios = keys.each(c, "num_attention_heads", count, "h"), keys.each(c, "attention_ratio", count)
    following = _following(c, widths, dims, count)
    layers = []
    for number, (depth, d, head_count, dim, ratio, wider) in enumerate(
        zip(depths, widths, heads, dims, ratios, keys.each(c, "mlp_ratio", count), strict=False)
    ):
        mixer = GQA(heads=head_count, kv_heads=head_count, head_dim=dim, value_dim=ratio * dim)
        ffn = Dense(width=d * wider) if wider > 0 else None
        layer = Layer(mixer=mixer, ffn=ffn, stage_width=d, own=LevitLayer(side=side, following=following[number][0]))
        layers.append(Layers(indices=Indices.below(depth), layer=layer))
        side = (side - 1) // stride + 1 if (stride := following[number][1]) else side
    sizes, d = Levit.read(c), keys.dim("d", c.ints("hidden_sizes", least=1)[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def _following(c: Config, widths: Sequence[int], dims: Sequence[int], count: int) -> list[tuple[Following | None, int]]:
    """What leads from each stage to the next one, and its stride: as down_ops says, after which the reference has none.

    Raises:
        ConfigError: it says nothing of a stage, or not all of it.
    """
    usual = [[_SUBSAMPLED, dims[0], width // dims[0], 4, 2, 2] for width in widths[: _STAGES - 1]]
    given: list[Any] = c.entries("down_ops") or usual
    found = list[tuple[Following | None, int]]()
    for number, said in enumerate([*given, [""]][:count]):
        if not (isinstance(said, list | str) and said):
            raise c.error("unknown-kind", f"down_ops has {shown(said)}, but must have lists.", "down_ops")
        if isinstance(said, str) or said[0] != _SUBSAMPLED:
            found.append((None, 0))
            continue
        numbers: list[Any] = said[1:]
        if len(numbers) < 5 or not all(isinstance(one, int) for one in numbers[:5]) or number + 1 >= len(widths):
            raise c.error("list-length", f"down_ops has {shown(said)}, which leads to no next stage.", "down_ops")
        dim, heads, ratio, wider, stride = numbers[:5]
        if min(dim, heads, ratio, stride) < 1:
            raise c.error("out-of-range", f"down_ops has {shown(said)}, with a size below 1.", "down_ops")
        found.append((Following(width=widths[number + 1], heads=heads, key_dim=dim, ratio=ratio, wider=wider), stride))
    if len(found) < count:
        raise c.unequal("down_ops", len(given), "the number of stages before the last", count - 1)
    return found


def blueprint(s: Spec[Levit]) -> Block:
    of, first, stages = s.own, s.layers[0].layer.width, dict[str, Block]()
    for number, part in enumerate(s.layers):
        stages[str(number)] = block(layers=_stage(part))
    steps = (of.num_channels, first // 8, first // 4, first // 2, first)
    names = ("convolution", "batch_norm")
    patches = {
        f"embedding_layer_{number}": normed(steps[number - 1], steps[number], of.kernel_size, names=names)
        for number in range(1, len(steps))
    }
    body = block(patch_embeddings=Block(patches), encoder=block(stages=Block(stages)))
    label = block(batch_norm=batch_norm(s.hidden), linear=Linear(s.hidden, s.labels, True, "other"))
    taught = block(classifier=label, classifier_distill=label)
    return headed(s, "levit", body, image_classification=block(classifier=label), double_heads=taught)


def _stage(part: Layers) -> tuple[Node, ...]:
    layer, depth = part.layer, part.indices.count
    a, d, of = layer.attention, layer.width, layer.sizes(LevitLayer)
    inner, values = a.heads * a.head_dim, a.heads * (a.value_dim or a.head_dim)
    biases = Tensor((a.heads, of.side * of.side))
    attention = block(
        "attention",
        queries_keys_values=_linear(d, values + 2 * inner),
        projection=_linear(values, d),
        attention_biases=biases,
    )
    step = 2 if layer.ffn else 1
    nodes = [Repeat(Indices(range(0, depth * step, step), depth), block(module=attention))]
    if layer.ffn:
        network = _network(d, layer.dense.width)
        nodes.append(Repeat(Indices(range(1, 1 + depth * step, step), depth), network))
    if of.following:
        after, heads, dim, ratio = (of.following.width, of.following.heads, of.following.key_dim, of.following.ratio)
        keyed = heads * dim
        down = block(
            "attention",
            keys_values=_linear(d, ratio * keyed + keyed),
            queries=_linear(d, keyed),
            projection=_linear(ratio * keyed, after),
            attention_biases=Tensor((heads, of.side * of.side)),
        )
        nodes.append(Repeat(Indices.of((int(depth) * step,)), down))
        if of.following.wider > 0:
            network = _network(after, of.following.wider * after)
            nodes.append(Repeat(Indices.of((int(depth) * step + 1,)), network))
    return tuple(nodes)


def _network(d: int, wide: int) -> Block:
    return block(module=block("mlp", linear_up=_linear(d, wide), linear_down=_linear(wide, d)))


def _linear(inputs: int, outputs: int) -> Block:
    return block(linear=Linear(inputs, outputs), batch_norm=batch_norm(outputs))
