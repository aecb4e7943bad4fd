"""Granite Speech: a conformer and a Q-Former, which shortens its output, before Granite (arXiv:2505.08699)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_granite_speech.py, modeling_granite_speech_plus.py
MODEL_TYPES = ("granite_speech", "granite_speech_plus")
IGNORED = ("has_lora_adapter",)
SPELLINGS = inside("encoder", "projector")


class GraniteSpeech(Sizes):
    """What this architecture alone has."""

    queries: int


def spec(c: Config) -> Spec[GraniteSpeech]:
    text = families.part(c, "text_config")
    towers = {"audio": families.part(c, "encoder_config"), "qformer": families.part(c, "projector_config")}
    queries = c.int("window_size") // c.int("downsample_rate")
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(
        GraniteSpeech.read(c, queries=keys.dim("n_q", queries))
    )


def blueprint(s: Spec[GraniteSpeech]) -> Block:
    former = s.parts["qformer"]
    projector = block(
        "projector",
        query=Tensor((1, s.own.queries, former.hidden)),
        qformer=families.tree(former),
        linear=Linear(former.hidden, s.hidden, True),
    )
    return llava(s, families.base(s), encoder=families.tower(s, "audio"), projector=projector)
