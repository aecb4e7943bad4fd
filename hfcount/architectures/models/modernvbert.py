"""ModernVBERT: SigLIP's tower, squares of patches, one projection, ModernBERT (arXiv:2510.01149)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, lm_head
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("modernvbert",)  # transformers 5.23: modeling_modernvbert.py


class Modernvbert(Sizes):
    """Sizes specific to ModernVBERT; the biases are those of its heads."""

    pixel_shuffle_factor: int = size("m", absent=4)
    classifier_bias: bool = flag(absent=False)
    norm_bias: bool = derived(lambda c: c.part("text_config").bool("norm_bias", default=False))


def spec(c: Config) -> Spec[Modernvbert]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = Modernvbert.read(c)
    heads = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")
    return keys.composite(c, text, towers, heads=heads).having(sizes)


def blueprint(s: Spec[Modernvbert]) -> Block:
    d, of = s.hidden, s.own
    wide = of.pixel_shuffle_factor * of.pixel_shuffle_factor * s.part("vision").hidden
    connector = Block({"modality_projection": Linear(wide, d)}, "projector", repeats=0)
    tower = families.tower(s, "vision")
    body = block(vision_model=tower, connector=connector, text_model=families.base(s))
    dense, norm = Linear(d, d, of.classifier_bias), layer_norm(d, of.norm_bias)
    table = "model.text_model.embeddings.tok_embeddings.weight"
    words = block(projection_head=block("lm_head", dense=dense, norm=norm), lm_head=lm_head(s, table, True))
    labels = block(head=block("other", dense=dense, norm=norm), classifier=classifier(s))
    return headed(s, "model", body, masked_lm=words, sequence_classification=labels, token_classification=labels)
