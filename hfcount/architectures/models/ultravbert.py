"""UltraVBERT: SigLIP's tower, squares of patches, one projection, UltraBERT."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head, rms_norm
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.models.ultrabert import Ultrabert
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ultravbert",)  # transformers 5.23: modeling_ultravbert.py
IGNORED = ("classifier_pooling",)
SPELLINGS = {r"^lm_head\.": "head.decoder.", r"^projection_head\.": "head."}

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


class Ultravbert(Sizes):
    """Sizes specific to UltraVBERT; `prediction_head_size` is the width within the head that predicts words."""

    pixel_shuffle_factor: int = size("m", absent=4)
    prediction_head_size: int


def spec(c: Config) -> Spec[Ultravbert]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    narrow = text.own.prediction_head_size if isinstance(text.own, Ultrabert) else text.hidden
    sizes = Ultravbert.read(c, prediction_head_size=narrow)
    return keys.composite(c, text, towers, heads=_HEADS).having(sizes)


def blueprint(s: Spec[Ultravbert]) -> Block:
    d, factor, narrow = s.hidden, s.own.pixel_shuffle_factor, s.own.prediction_head_size
    wide = factor * factor * s.part("vision").hidden
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
