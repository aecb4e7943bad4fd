"""Intern-S2-Preview: Qwen3.5 with experts and its tower, and what reads and foretells time series (its card)."""

from hfcount.architectures import families
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.models.qwen3_5 import blueprint as qwen3_5
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Node, Undescribed

# interns2_preview.py of vllm-project/vllm 0.33, interns2preview.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("intern_s2_preview",)
CLASSES = ("InternS2PreviewForConditionalGeneration",)
PREDICTORS = ("Qwen3_5MTP", "Qwen3_5MoeMTP", "Qwen3_5ForCausalLMMTP")
MERGED = packed()

_SERIES = "what reads time series, which engines leave out"


class InternS2(Sizes):
    series: bool


def spec(c: Config) -> Spec[InternS2]:
    parts = {
        key: {**(c.object(key) or {}), "model_type": f"qwen3_5_moe_{kind}"}
        for key, kind in (("text_config", "text"), ("vision_config", "vision"))
    }
    without = families.read(c.varied("", parts), "qwen3_5_moe").replace(family=c.family)
    return without.having(InternS2(series=c.object("ts_config") is not None))


def blueprint(s: Spec[InternS2]) -> Block:
    tree = qwen3_5(s)
    if not s.own.series:
        return tree
    children = {name: _with_series(child) if name == "model" else child for name, child in tree.children.items()}
    return Block({**children, "time_series_forecaster": Undescribed(_SERIES)})


def _with_series(body: Node) -> Node:
    assert isinstance(body, Block), "a model with a head has its body below a name"
    return Block({**body.children, "time_series": Undescribed(_SERIES)}, body.component, body.repeats)
