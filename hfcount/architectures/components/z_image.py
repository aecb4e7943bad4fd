"""Z-Image of diffusers: the layers that it and its ControlNets share, and their patches."""

from hfcount.architectures.layers import numbered_swiglu, rms_norm
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Record
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Linear, Node, block

_MODULATION = 256
"""The largest width of the vector that modulates a layer."""


class Patch(Record):
    """A size of patches that the model takes: `name` of its tensors, and its places."""

    name: str
    places: int


def patches(c: Config) -> tuple[Patch, ...]:
    """The sizes of patches, each once: those of the image's sides, with those of frames, as far as both go."""
    sizes: dict[str, int] = {}
    for place, (side, span) in enumerate(zip(c.ints("all_patch_size"), c.ints("all_f_patch_size"), strict=False), 1):
        edge, depth = Dim.named(f"p{place}", side), Dim.named(f"f{place}", span)
        sizes[f"{int(side)}-{int(span)}"] = depth * edge * edge
    return tuple(Patch(name=name, places=places) for name, places in sizes.items())


def modulation(name: str, inputs: int, outputs: int) -> Block:
    """The modulation of a layer, by the step."""
    return Block({name: Linear(inputs, outputs, True)}, "norm")


class ZImageLayers(Sizes):
    """The sizes of its layers."""

    dim: int = size("d")
    n_heads: int = size("h", minimum=1)
    n_refiner_layers: int = count("N_r")
    qk_norm: bool = flag()

    @classmethod
    def of(cls, c: Config) -> "ZImageLayers":
        """Those of a config.

        Raises:
            ConfigError: there are more heads than elements.
        """
        sizes = cls.read(c)
        if not sizes.head_dim:
            text = f"dim is {int(sizes.dim):,}, less than n_heads: heads would have no width."
            raise c.error("out-of-range", text, "dim", "Correct it.", observed=int(sizes.dim))
        return sizes

    @property
    def head_dim(self) -> int:
        """The elements of a head."""
        return self.dim // self.n_heads

    @property
    def modulating(self) -> int:
        """The width of the vector that modulates a layer."""
        return min(self.dim, _MODULATION)

    def layer(self, modulated: bool, **more: Node) -> Block:
        """A layer, which a step modulates if it is `modulated`; `more` are further children."""
        d = self.dim
        attended = self.n_heads * self.head_dim
        norm, out = rms_norm(self.head_dim) if self.qk_norm else None, Block({"0": Linear(attended, d)})
        return block(
            attention=normed_attention(d, attended, bias=False, norm=norm, to_out=out),
            feed_forward=numbered_swiglu(d, 8 * d // 3),
            attention_norm1=rms_norm(d),
            ffn_norm1=rms_norm(d),
            attention_norm2=rms_norm(d),
            ffn_norm2=rms_norm(d),
            adaLN_modulation=modulation("0", self.modulating, 4 * d) if modulated else None,
            **more,
        )
