"""Parts of D-FINE and DEIMv2, whose boxes are refined as distributions (arXiv:2410.13842, arXiv:2509.20787)."""

from hfcount.parts.detection import perceptron, tied_perceptron
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer


def weighing(d: int, heads: int, points: int) -> Block:
    """Deformable attention that only weighs values. Tensors: sampling_offsets, attention_weights, num_points_scale."""
    return block(
        "attention",
        sampling_offsets=Linear(d, 2 * heads * points, True),
        attention_weights=Linear(d, heads * points, True),
        num_points_scale=buffer(points),
    )


def sides(s: Spec) -> int:
    """How many numbers say where the sides of a box may be."""
    return 4 * (s.traits["max_num_bins"] + 1)


def refining(s: Spec) -> dict[str, Node]:
    """What a decoder refines boxes by. Tensors: reg_scale (1), up (1), pre_bbox_head, and lqe_layers, numbered."""
    d, of, one = s.hidden, s.traits, Tensor((1,), component="other")
    steps = [of["lqe_hidden_dim"]] * (of["lqe_layers"] - 1)
    sure = block(reg_conf=perceptron(4 * (of["top_prob_values"] + 1), *steps, 1))
    first = perceptron(d, d, d, 4)
    return {"reg_scale": one, "up": one, "pre_bbox_head": first, "lqe_layers": Repeat(Indices.below(s.depth), sure)}


def predicting(s: Spec, shared: bool = False) -> dict[str, Node]:
    """Each layer's predictions, class_embed and bbox_embed; `shared` boxes are stored under the first one's name."""
    d, each, box = s.hidden, Indices.below(s.depth), perceptron(s.hidden, s.hidden, s.hidden, sides(s))
    labels = Repeat(each, Linear(d, s.labels, True, "other"))
    first = Indices.below(1)
    boxes = (Repeat(first, box), Repeat(each.difference(first), same_boxes(s)))
    return {"class_embed": labels, "bbox_embed": boxes if shared else Repeat(each, box)}


def same_boxes(s: Spec) -> Block:
    """A second name of boxes that all layers share."""
    return tied_perceptron("model.decoder.bbox_embed.0", s.hidden, s.hidden, s.hidden, sides(s))
