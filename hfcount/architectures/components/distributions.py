"""D-FINE and those after it, whose boxes are refined as distributions (arXiv:2410.13842, arXiv:2509.20787)."""

from hfcount.architectures.components.detection import perceptron, tied_perceptron
from hfcount.architectures.components.rt_detr import denoising
from hfcount.architectures.keys import dim
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer

_BLOCKS = 3  # of a fusion of two levels, at a depth of 1


class Distributions(Sizes):
    """Queries whose boxes are refined; `points` are those of all levels, and `encoder_fused` joins two of them."""

    num_feature_levels: int
    points: int
    encoder_fused: int
    num_queries: int = size("n_q")
    learned: bool = flag("learn_initial_query", absent=False)
    denoised: bool = derived(denoising)
    frozen: bool = flag("freeze_backbone_batch_norms", absent=True)
    blocks: int = derived(lambda c: round(_BLOCKS * c.number("depth_mult", default=1.0)))
    attended: int = derived(lambda c: len(c.ints("encode_proj_layers", default=(2,))))
    max_num_bins: int = size("n_b")
    top_prob_values: int = size("n_t")
    lqe_hidden_dim: int = size("d_q")
    lqe_layers: int = size(maximum=64)

    @property
    def sides(self) -> int:
        """The number of outputs for the distributions of a box's four sides."""
        return 4 * (self.max_num_bins + 1)

    def refining(self, d: int, depth: int) -> dict[str, Node]:
        """The modules that refine boxes. Tensors: reg_scale (1), up (1), pre_bbox_head, and lqe_layers, numbered."""
        scalar = Tensor((1,), component="other")
        steps = [self.lqe_hidden_dim] * (self.lqe_layers - 1)
        sure = Block({"reg_conf": perceptron(4 * (self.top_prob_values + 1), *steps, 1)})
        first = perceptron(d, d, d, 4)
        return {
            "reg_scale": scalar,
            "up": scalar,
            "pre_bbox_head": first,
            "lqe_layers": Repeat(Indices.below(depth), sure),
        }

    def predicting(self, s: Spec, shared: bool = False) -> dict[str, Node]:
        """Each layer's class_embed and bbox_embed; `shared` boxes are stored under the first one's name."""
        d, each, box = s.hidden, Indices.below(s.depth), perceptron(s.hidden, s.hidden, s.hidden, self.sides)
        labels = Repeat(each, Linear(d, s.labels, True, "other"))
        first = Indices.below(1)
        boxes = (Repeat(first, box), Repeat(each.difference(first), self.same_boxes(d)))
        return {"class_embed": labels, "bbox_embed": boxes if shared else Repeat(each, box)}

    def same_boxes(self, d: int) -> Block:
        """A second name of boxes that all layers share."""
        return tied_perceptron("model.decoder.bbox_embed.0", d, d, d, self.sides)


def distributing(c: Config) -> Distributions:
    """Those of a config.

    Raises:
        UnknownArchitecture: there are layers behind the one whose predictions count.
        ConfigError: the points are not listed for each level.
    """
    depth, last = c.int("decoder_layers", maximum=MAX_LAYERS), c.int("eval_idx", default=-1, minimum=-64)
    if (last if last >= 0 else depth + last) != depth - 1:
        raise UnknownArchitecture(f"{c.where}: layers behind the one that eval_idx names are not described.")
    levels = c.int("num_feature_levels", maximum=64)
    alone, points = c.is_int("decoder_n_points"), c.ints("decoder_n_points", default=(4,), alone=True, least=1)
    if not alone and len(points) != levels:
        text = f"decoder_n_points has {len(points):,} entries, and there are {levels:,} levels."
        raise c.error(
            "list-length", text, "decoder_n_points", "Correct one of them.", expected=int(levels), observed=len(points)
        )
    heads, width = c.int("decoder_attention_heads"), c.int("head_dim", default=None)
    if width is not None:
        d = c.int("d_model", "hidden_size")
        if width * heads != d:
            text = f"head_dim is {width:,}, and the {heads:,} heads share {d:,}."
            raise c.error("not-divisible", text, "head_dim", "Remove it, or correct it.", observed=int(width))
    fused = c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0) // 2
    return Distributions.read(
        c,
        num_feature_levels=dim("n_l", levels),
        points=dim("n_s", points[0] * levels if alone else sum(points)),
        encoder_fused=dim("d_h", fused),
    )


def weighing(d: int, heads: int, points: int) -> Block:
    """Deformable attention that only weighs values. Tensors: sampling_offsets, attention_weights, num_points_scale."""
    return block(
        "attention",
        sampling_offsets=Linear(d, 2 * heads * points, True),
        attention_weights=Linear(d, heads * points, True),
        num_points_scale=buffer(points),
    )
