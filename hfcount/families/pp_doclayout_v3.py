"""PP-DocLayoutV3: RT-DETR that also gives the masks of a page's parts, and the order to read them in (PaddleOCR)."""

from math import log2

from hfcount import families, keys
from hfcount.keys.detection import UNSHAPED, hybrid
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.conversions import HYBRID
from hfcount.parts.detection import perceptron, tied_perceptron
from hfcount.parts.hybrid import masking_encoder, querying, refining
from hfcount.parts.layers import altered
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tied, block

MODEL_TYPES = ("pp_doclayout_v3",)  # transformers 5.23: modeling_pp_doclayout_v3.py
IGNORED = (*UNSHAPED, "mask_enhanced")
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


def spec(c: Config) -> Spec:
    strides = sorted(c.ints("feat_strides", least=1, minimum=1))
    masks = c.ints("mask_feature_channels", least=2, minimum=0)
    traits: dict[str, int] = {
        "learned": c.bool("learn_initial_query", default=False),
        "denoised": c.int("num_denoising", minimum=0) > 0,
        "inner": keys.sized("d_m", masks[0]),
        "outer": keys.sized("d_o", masks[1]),
        "x4_feat_dim": keys.sized("C_x", c.int("x4_feat_dim")),
        "num_prototypes": keys.sized("n_p", c.int("num_prototypes")),
        "global_pointer_head_size": keys.sized("d_g", c.int("global_pointer_head_size")),
        "strides": len(strides),
        # How often a level is doubled until it is as fine as the finest.
        **{f"steps.{place}": int(log2(one) - log2(strides[0])) for place, one in enumerate(strides)},
    }
    whole = hybrid(c, _HEADS, families.backbone(c), first=1, traits=traits)
    return whole.but(tied=c.bool("tie_word_embeddings", default=True))


def blueprint(s: Spec) -> Block:
    d, of, labels, where = s.hidden, s.traits, s.labels, "" if s.head == "base" else "model."
    score = f"{where}enc_score_head"
    names = Tied(f"{score}.weight", (labels, d), "other"), Tied(f"{score}.bias", (labels,), "other", name="bias")
    same, box = tied_perceptron(f"{where}enc_bbox_head", d, d, d, 4), perceptron(d, d, d, 4)
    decoder = altered(
        refining(s, headed=False),
        class_embed=names if s.tied else Linear(d, labels, True, "other"),
        bbox_embed=same if s.tied else box,
    )
    denoised = (labels + 1 if of["denoised"] else None) if s.head == "base" else labels
    body = altered(
        querying(s, families.tree(s.parts["backbone"]), decoder, denoised, encoder=masking_encoder(s)),
        decoder_order_head=Repeat(Indices.below(s.depth), Linear(d, d, True, "other")),
        decoder_global_pointer=block("other", dense=Linear(d, 2 * of["global_pointer_head_size"], True)),
        decoder_norm=layer_norm(d),
        mask_query_head=perceptron(d, d, d, of["num_prototypes"]),
    )
    return body if s.head == "base" else block(model=body)
