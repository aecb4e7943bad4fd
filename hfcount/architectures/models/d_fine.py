"""D-FINE: RT-DETR whose decoder refines where each side of a box may be, as distributions (arXiv:2410.13842)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import UNSHAPED, detecting, perceptron, second_names
from hfcount.architectures.components.distributions import Distributions, distributing, weighing
from hfcount.architectures.components.rt_detr import hybrid_encoder, normed_linear, projected, separable
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import frozen, normed
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("d_fine",)  # transformers 5.23: modeling_d_fine.py
IGNORED = (*UNSHAPED, "feat_strides", "head_dim")
SPELLINGS = {
    r"\.o_proj\.": ".out_proj.",
    r"(layers\.\d+)\.mlp\.layers\.0\.": r"\1.fc1.",
    r"(layers\.\d+)\.mlp\.layers\.1\.": r"\1.fc2.",
    r"encoder\.aifi\.": "encoder.encoder.",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class DFine(Sizes):
    """Sizes of D-FINE: `upper` are the widths of the backbone's features, `lower` that of all for the decoder."""

    upper: tuple[int, ...]
    lowers: int
    lower: int
    distributions: Distributions
    levels: int = derived(lambda c: len(c.ints("encoder_in_channels", default=(512, 1024, 2048))))


def spec(c: Config) -> Spec[DFine]:
    backbone = families.backbone(c)
    places = [2, 3, 4] if not c.given("backbone_config") else chosen(c.part("backbone_config"))
    widths, lower = channels(places, backbone), c.ints("decoder_in_channels", default=(256, 256, 256), least=1)
    sizes = DFine.read(
        c,
        upper=tuple(widths),
        lowers=len(lower),
        lower=keys.dim("C_d", lower[-1] if lower else 0),
        distributions=distributing(c),
    )
    model = detecting(c, _HEADS, backbone, sizes, inside="encoder_hidden_dim")
    return model.replace(tied=c.bool("tie_word_embeddings", default=True))  # it ties the predictions of its decoder


def blueprint(s: Spec[DFine]) -> Block:
    d, sizes, labels, norm, inside = s.hidden, s.own, s.labels, layer_norm(s.hidden), s.part("encoder").hidden
    of, tower = sizes.distributions, families.tree(s.part("backbone"))

    def layer_block(layer: Layer) -> Block:
        gate = block("mlp", gate=Linear(2 * d, 2 * d, True), norm=norm)
        first = {"self_attn": square_attention(d, out="out_proj"), "self_attn_layer_norm": norm}
        attention = {"encoder_attn": weighing(d, layer.attention.heads, of.points)}
        return Block({**first, **attention, **fc(d, layer.dense.width), "final_layer_norm": norm, "gateway": gate})

    decoder = {
        "layers": stack(s.layers, layer_block),
        "query_pos_head": perceptron(4, 2 * d, d),
        **of.refining(d, s.depth),
    }
    refined = {} if s.head == "base" else of.predicting(s)
    lower = [sizes.lower] * sizes.lowers
    fused = _aggregated(inside, of.encoder_fused, of.blocks)
    body = block(
        backbone=block(model=frozen(tower) if of.frozen else tower),
        encoder_input_proj=projected(sizes.upper, inside),
        encoder=hybrid_encoder(s.part("encoder"), sizes.levels, of.attended, fused, separable(inside)),
        denoising_class_embed=embedding(labels + 1, d) if of.denoised else None,
        weight_embedding=embedding(of.num_queries, d) if of.learned else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, labels, True, "other"),
        enc_bbox_head=perceptron(d, d, d, 4),
        decoder_input_proj=(
            projected(lower, d, max(0, int(of.num_feature_levels) - sizes.lowers), sizes.lower)
            if int(sizes.lower) != int(d)
            else None
        ),
        decoder=Block({**decoder, **refined}),
    )
    if s.head == "base":
        return body
    second = second_names(s.depth, labels, d, d, d, of.sides) if s.tied else of.predicting(s)
    return block(model=body, **second)


def _aggregated(d: int, hidden: int, blocks: int) -> Block:
    """Two levels fused by ever deeper ways that are joined at the end (arXiv:2402.13616).

    Tensors: conv1 to conv4, csp_rep1, csp_rep2.
    """

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    def way(into: int) -> Block:
        repvgg = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
        same = Repeat(Indices.below(blocks), repvgg) if blocks else None
        return block(conv1=step(into, hidden, 1), conv2=step(into, hidden, 1), bottlenecks=same)

    return block(
        conv1=step(2 * d, 2 * d, 1),
        csp_rep1=way(d),
        conv2=step(hidden, hidden, 3),
        csp_rep2=way(hidden),
        conv3=step(hidden, hidden, 3),
        conv4=step(2 * d + 2 * hidden, d, 1),
    )
