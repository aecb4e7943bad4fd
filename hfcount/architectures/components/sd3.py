"""Stable Diffusion 3 of diffusers: blocks that image and text pass side by side (arXiv:2403.03206)."""

from hfcount.architectures import keys
from hfcount.architectures.components.flux import STEP, modulation
from hfcount.architectures.layers.diffusion.layers import attention, conv, feed_forward, time_embedding
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, optional, size
from hfcount.spec.tree.dims import Dim, origin
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block, buffer

_NORMS = ("rms_norm", "layer_norm", "fp32_layer_norm")


def _norm(c: Config) -> str:
    """How queries and keys are normalised; "" if they are not."""
    return "" if c.is_null("qk_norm") else c.choice("qk_norm", _NORMS)


def _dual(c: Config) -> Indices:
    """The blocks with a second attention, of the image alone."""
    key, total = "dual_attention_layers", c.int("num_layers", minimum=0, maximum=MAX_LAYERS)
    places = keys.among(c, key, c.ints(key), total)
    return places.replace(count=Dim.named("L_d", int(places.count), origin(places.count)))


class SD3(Sizes):
    """The sizes that a model and its ControlNets share."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    num_layers: int = count("L", minimum=0)
    caption_projection_dim: int = size("d_t")
    in_channels: int = size("C_i")
    patch_size: int = size("P")
    pooled_projection_dim: int = size("d_p")
    pos_embed_max_size: int | None = optional("n_p", minimum=0)
    qk_norm: str = derived(_norm)
    dual: Indices = derived(_dual)

    @property
    def width(self) -> int:
        """The width of the sequence."""
        return self.num_attention_heads * self.attention_head_dim

    def places(self, inputs: int, table: bool = True) -> Block:
        """The patch embedding for so many channels, with a `table` of positions if one is stored."""
        side, stored = self.pos_embed_max_size, None
        if table and side:
            stored = buffer(1, side * side, self.width, component="embedding")
        return block("embedding", pos_embed=stored, proj=conv(inputs, self.width, self.patch_size))

    def times(self) -> Block:
        """The embedding of a step and of the pooled text."""
        d = self.width
        text = time_embedding(self.pooled_projection_dim, d)
        return block(timestep_embedder=time_embedding(STEP, d), text_embedder=text)

    def blocks(self, ending: bool) -> Node:
        """All blocks; if they are `ending`, the last one makes nothing of the text."""
        last = int(self.num_layers) - 1
        if not ending or last < 0:
            plain = Indices.below(self.num_layers).difference(self.dual)
            return Repeat(plain, self._joint(False, False)), Repeat(self.dual, self._joint(True, False))
        closes = last in self.dual
        dual = Indices.of([place for place in self.dual if place != last]) if closes else self.dual
        return (
            Repeat(Indices.below(self.num_layers - 1).difference(dual), self._joint(False, False)),
            Repeat(dual, self._joint(True, False)),
            Repeat(Indices.of([last]), self._joint(closes, True)),
        )

    def single(self) -> Node:
        """Blocks of the image alone, all of them."""
        d = self.width
        body = block(norm1=modulation(d, 6), attn=attention(d, d), ff=feed_forward(d, 4 * d))
        return Repeat(Indices.below(self.num_layers), body)

    def _joint(self, dual: bool, closes: bool) -> Block:
        d, square = self.width, Linear(self.width, self.width, True)
        inner, added = self._norms("norm_q", "norm_k"), self._norms("norm_added_q", "norm_added_k")
        projections = dict.fromkeys(("add_q_proj", "add_k_proj", "add_v_proj"), square)
        if not closes:
            projections["to_add_out"] = square
        return block(
            norm1=modulation(d, 9 if dual else 6),
            norm1_context=modulation(d, 2 if closes else 6),
            attn=altered(attention(d, d), **projections, **inner, **added),
            attn2=altered(attention(d, d), **inner) if dual else None,
            ff=feed_forward(d, 4 * d),
            ff_context=None if closes else feed_forward(d, 4 * d),
        )

    def _norms(self, *names: str) -> dict[str, Node]:
        kinds = {"rms_norm": rms_norm, "layer_norm": layer_norm}
        make = kinds.get(self.qk_norm)  # the third kind has no parameters
        return {} if make is None else dict.fromkeys(names, make(self.attention_head_dim))
