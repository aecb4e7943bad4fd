"""Ovis 1.6 to 2.5 as released: a tower whose output picks rows of a table of visual words (arXiv:2405.20797)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.families.siglip2_navit import Siglip2Navit
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("ovis", "ovis2_5")  # modeling_ovis.py of AIDC-AI/Ovis2-1B, modeling_ovis2_5.py of AIDC-AI/Ovis2.5-2B
IGNORED = ("depths", "multimodal_max_length", "tau")

_BACKBONES = {"aimv2": "ovis_aimv2", "siglip_vision_model": "siglip_vision_model"}


class Ovis(Sizes):
    """What Ovis alone has.

    Args:
        words: visual words, of which `indicators` mark an image.
        stride: how many outputs of the tower along each side are one.
        later: whether it is version 2.5.
    """

    words: int
    indicators: int
    stride: int
    later: bool


def spec(c: Config) -> Spec[Ovis]:
    later = bool(c.sub("vit_config"))
    text = families.part(c, "llm_config").replace(head="causal_lm")
    tokenizer = c if later else c.part("visual_tokenizer_config")
    if later:
        vision = families.part(c, "vit_config", "siglip2_navit")
        stride = vision.sizes(Siglip2Navit).hidden_stride
        words, indicators = c.int("visual_vocab_size", default=65536), 4
    else:
        kind = tokenizer.part("backbone_config").str("model_type", default="")
        if kind not in _BACKBONES or tokenizer.has("use_indicators"):
            raise UnknownArchitecture(f"{c.where}: Ovis is described from 1.6 on, with AIMv2's tower or SigLIP's.")
        vision = families.part(tokenizer, "backbone_config", _BACKBONES[kind])
        stride = keys.dim("m", tokenizer.int("hidden_stride", default=1))
        words, indicators = tokenizer.int("vocab_size", default=16384), 5
    if words <= indicators:
        said = f"There are {words:,} visual words, and {indicators} of them mark an image."
        raise tokenizer.error(said, "vocab_size")
    own = Ovis.read(c, words=keys.dim("|V_v|", words), indicators=indicators, stride=stride, later=later)
    heads = keys.named(Ovis="causal_lm", Ovis2_5="causal_lm")
    tied = text.tied and not c.bool("disable_tie_weight", default=False)
    whole = keys.composite(c, text, {"vision": vision}, key="llm_config", heads=heads)
    return whole.replace(tied=tied).having(own)


def blueprint(s: Spec[Ovis]) -> Block:
    of, vision = s.own, s.parts["vision"]
    words, seen = of.words - of.indicators, of.stride * of.stride * vision.hidden
    tower = families.tower(s, "vision")
    if vision.family == "siglip_vision_model":
        tower = Block({"vision_model": tower}, "vision", 0)
    head = Block({"0": Linear(seen, words), "1": layer_norm(words)}, "projector")
    sight = {"vit" if of.later else "backbone": tower, "head": head}
    return block(
        llm=rebased(families.tree(s.parts["text"].replace(tied=s.tied)), "llm"),
        visual_tokenizer=Block(sight, repeats=0),
        vte=block("projector", weight=Tensor((of.words, s.hidden))),
    )
