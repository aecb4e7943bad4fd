"""Vision towers of open_clip that are models of timm, with a projection after them."""

from hfcount.architectures.components.timm.arguments import UNCOUNTED, Listed, form, listed
from hfcount.architectures.components.timm.catalogue import TimmSizes
from hfcount.architectures.layers import mlp
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.leaves import leaves
from hfcount.spec.tree.nodes import Block, Linear, Node

_COLOURS = 3
_USUAL = (("timm_pool", "avg"), ("timm_proj", "linear"))
PROBE = 2**31 - 1  # a number of classes that no other size is


class TimmTower(Record):
    """A model of timm, of so many `classes`, and what makes `out` elements of its `width`.

    Args:
        proj: `linear`, `mlp`, or nothing of its own.
        proj_bias: whether the last linear map has a bias.
    """

    trunk: Listed
    classes: int
    width: int
    proj: str
    proj_bias: bool

    @classmethod
    def read(cls, c: Config, out: int) -> "Spec[TimmTower]":
        """By timm_model_name, timm_pool, timm_proj and timm_proj_bias, for an output `out` wide.

        Raises:
            UnknownArchitecture: timm has no such model, or how it is pooled is not described.
        """
        pool, proj = (c.str(key, default="" if c.has(key) else usual) for key, usual in _USUAL)
        name, _, tag = c.str("timm_model_name").partition(".")
        model, asked = listed(c, name), Config({"global_pool": pool} if pool else {}, c.where)
        if pool in ("abs_attn", "rot_attn"):
            raise UnknownArchitecture(f"{c.where}: timm_pool {pool} is not described.")
        extra = proj in ("linear", "mlp")
        root = form(asked, name, model, model.native.get(tag))
        trunk = Listed(name=name, root=root.root, sizes=TimmSizes(PROBE, _COLOURS, root.patches))
        sizes = cls(
            trunk=trunk,
            classes=0 if extra or proj == "none" else out,
            width=features(trunk, c.where) if extra else 0,
            proj=proj if extra else "",
            proj_bias=c.bool("timm_proj_bias", default=False),
        )
        return Spec(family=c.family, hidden=0, layers=(), causal=False, uncounted=UNCOUNTED).having(sizes)

    def tensors(self, out: int) -> dict[str, Node]:
        """Its tensors: trunk, and head with proj (d_o, width), or with mlp."""
        trunk = {"trunk": self.trunk.tensors(self.classes)}
        last = Linear(2 * out if self.proj == "mlp" else self.width, out, self.proj_bias)
        if not self.proj:
            return {**trunk}
        if self.proj == "linear":
            return {**trunk, "head": Block({"proj": last})}
        both = mlp(self.width, 2 * out)
        return {**trunk, "head": Block({"mlp": Block({**both.children, "fc2": last})})}


def features(trunk: Listed, where: str) -> int:
    """The input width of the classifier; raises UnknownArchitecture if it cannot be known."""
    for leaf in leaves(trunk.tensors()):
        if len(leaf.shape) > 1 and leaf.shape[0] == PROBE:
            return leaf.shape[1]
    raise UnknownArchitecture(f"{where}: the width of what {trunk.name} gives is not recorded.")
