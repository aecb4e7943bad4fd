"""UltraVBERT: SigLIP's tower, squares of patches, one projection, UltraBERT."""

from hfcount import families, keys
from hfcount.families.ultrabert import Ultrabert
from hfcount.mapper import Config
from hfcount.parts import lm_head, rms_norm
from hfcount.parts.classic import classifier, headed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ultravbert",)  # transformers 5.23: modeling_ultravbert.py
IGNORED = ("classifier_pooling",)
SPELLINGS = {r"^lm_head\.": "head.decoder.", r"^projection_head\.": "head."}

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {
        "pixel_shuffle_factor": keys.sized("m", c.int("pixel_shuffle_factor", default=4)),
        "prediction_head_size": text.own.prediction_head_size if isinstance(text.own, Ultrabert) else text.hidden,
    }
    return keys.around(c, text, towers, heads=_HEADS, traits=traits)


def blueprint(s: Spec) -> Block:
    d, factor, narrow = s.hidden, s.traits["pixel_shuffle_factor"], s.traits["prediction_head_size"]
    wide = factor * factor * s.parts["vision"].hidden
    connector = block("projector", modality_projection=Linear(wide, d), norm=rms_norm(d))
    tower = families.tower(s, "vision")
    body = block(
        vision_model=tower, connector=Block(connector.children, "projector", repeats=0), text_model=families.base(s)
    )
    decoder = lm_head(s, "model.text_model.embed_tokens.weight")
    words = block("lm_head", linear1=Linear(d, narrow), linear2=Linear(narrow, d), decoder=decoder)
    labels = block(classifier=classifier(s))
    return headed(
        s,
        "model",
        body,
        masked_lm=block(head=words),
        sequence_classification=labels,
        token_classification=labels,
    )
