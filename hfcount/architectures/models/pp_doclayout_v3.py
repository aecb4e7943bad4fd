"""PP-DocLayoutV3: RT-DETR that also gives the masks of a page's parts, and the order to read them in (PaddleOCR)."""

from math import log2

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import UNSHAPED, perceptron, tied_perceptron
from hfcount.architectures.components.rt_detr import Hybrid, denoising, hybrid, refining
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.conversions import HYBRID
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tied, block

MODEL_TYPES = ("pp_doclayout_v3",)  # transformers 5.23: modeling_pp_doclayout_v3.py
IGNORED = (*UNSHAPED, "mask_enhanced")
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class Masks(Sizes):
    """The features of masks; `steps` says how often each level is doubled until it is as fine as the finest."""

    steps: tuple[int, ...]
    inner: int
    outer: int
    learned: bool = flag("learn_initial_query", absent=False)
    denoised: bool = derived(denoising)
    x4_feat_dim: int = size("C_x")
    num_prototypes: int = size("n_p")
    global_pointer_head_size: int = size("d_g")


class PPDocLayoutV3(Record):
    hybrid: Hybrid
    masks: Masks


def spec(c: Config) -> Spec[PPDocLayoutV3]:
    strides = sorted(c.ints("feat_strides", least=1, minimum=1))
    masks = c.ints("mask_feature_channels", least=2, minimum=0)
    steps = tuple(int(log2(stride) - log2(strides[0])) for stride in strides)
    sizes = Masks.read(c, steps=steps, inner=keys.dim("d_m", masks[0]), outer=keys.dim("d_o", masks[1]))
    model = hybrid(c, _HEADS, families.backbone(c), first=1)
    tied = c.bool("tie_word_embeddings", default=True)
    return model.replace(tied=tied).having(PPDocLayoutV3(hybrid=model.own, masks=sizes))


def _encoder(s: Spec[PPDocLayoutV3]) -> Block:
    """RT-DETR's encoder, which also makes features of masks: levels are doubled, and joined."""
    of, encoder = s.own.masks, s.part("encoder")
    inner, outer = of.inner, of.outer

    def finer(steps: int) -> Block:
        # A step is a convolution, and then an enlargement, which has a number and no tensors.
        later = {str(2 * step): normed(inner, inner, 3) for step in range(1, steps)}
        return block(layers=Block({"0": normed(encoder.hidden, inner, 3), **later}))

    levels = Block({str(place): finer(steps) for place, steps in enumerate(of.steps)})
    prototypes = conv(outer, of.num_prototypes, 1, bias=True)
    return altered(
        s.own.hybrid.encoder(encoder),
        mask_feature_head=block(scale_heads=levels, output_conv=normed(inner, outer, 3)),
        encoder_mask_lateral=normed(of.x4_feat_dim, outer, 3),
        encoder_mask_output=block(base_conv=normed(outer, outer, 3), conv=prototypes),
    )


def blueprint(s: Spec[PPDocLayoutV3]) -> Block:
    d, sizes, of, labels, where = s.hidden, s.own, s.own.masks, s.labels, "" if s.head == "base" else "model."
    score = f"{where}enc_score_head"
    names = Tied(f"{score}.weight", (labels, d), "other"), Tied(f"{score}.bias", (labels,), "other", name="bias")
    same, box = tied_perceptron(f"{where}enc_bbox_head", d, d, d, 4), perceptron(d, d, d, 4)
    decoder = altered(
        refining(s, sizes.hybrid.points, headed=False),
        class_embed=names if s.tied else Linear(d, labels, True, "other"),
        bbox_embed=same if s.tied else box,
    )
    labelled = (labels + 1 if of.denoised else None) if s.head == "base" else labels
    tower = families.tree(s.part("backbone"))
    body = altered(
        sizes.hybrid.tensors(s, tower, decoder, labelled=labelled, learned=of.learned, encoder=_encoder(s)),
        decoder_order_head=Repeat(Indices.below(s.depth), Linear(d, d, True, "other")),
        decoder_global_pointer=block("other", dense=Linear(d, 2 * of.global_pointer_head_size, True)),
        decoder_norm=layer_norm(d),
        mask_query_head=perceptron(d, d, d, of.num_prototypes),
    )
    return body if s.head == "base" else block(model=body)
