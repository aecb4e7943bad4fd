"""AIMv2 as first released, with fused projections (arXiv:2411.14402)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.aimv2 import FusedAimv2, fused_aimv2
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

# modeling_aimv2.py of apple/aimv2-huge-patch14-448, whose configs are of type aimv2
MODEL_TYPES = ("aimv2_model",)
CLASSES = ("AIMv2Model",)


def spec(c: Config) -> Spec[FusedAimv2]:
    keys.head_of(c, keys.named(("Model",)))
    model = families.read(c.varied("", {}), "ovis_aimv2").replace(family=c.family)
    return model.having(model.sizes(FusedAimv2))


def blueprint(s: Spec[FusedAimv2]) -> Block:
    return fused_aimv2(s)
