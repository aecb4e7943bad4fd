"""ConsisID's face encoder: features of several depths, read by learned queries (arXiv:2411.17440)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block


def _layers(c: Config) -> int:
    """How many layers of the model attend to the face."""
    return keys.layer_count(c, "num_layers") // c.int("cross_attn_interval", minimum=1)


class Face(Sizes):
    """The face encoder; `inner` and `outer` are the attention widths (all heads) within it and within the model."""

    identity: int = size("d_f", "LFE_id_dim")
    width: int = size("d_v", "LFE_vit_dim")
    depth: int = count("L_f", "LFE_depth")
    tokens: int = size("n_f", "LFE_num_id_token")
    queries: int = size("n_q", "LFE_num_querie")
    outputs: int = size("d_u", "LFE_output_dim")
    factor: int = size("m_f", "LFE_ff_mult")
    scales: int = size("s_f", "LFE_num_scale")
    inner: int = derived(lambda c: c.int("LFE_dim_head") * c.int("LFE_num_heads"))
    outer: int = derived(lambda c: c.int("cross_attn_dim_head") * c.int("cross_attn_num_heads"))
    layers: int = derived(_layers)

    @classmethod
    def of(cls, c: Config) -> "Face":
        """By the keys of a config.

        Raises:
            ConfigError: LFE_depth is no multiple of LFE_num_scale.
        """
        sizes = cls.read(c)
        keys.divides(c, "LFE_num_scale", sizes.scales, "LFE_depth", sizes.depth)
        return sizes

    def attention(self, d: int, inner: int, source: int) -> Block:
        """Attention, `inner` wide in all heads, to what is `source` wide."""
        keyed = Linear(source, 2 * inner)
        norms = {"norm1": layer_norm(source), "norm2": layer_norm(d)}
        return block("attention", **norms, to_q=Linear(d, inner), to_kv=keyed, to_out=Linear(inner, d))

    def extractor(self) -> Block:
        """The tensors that turn features into the tokens that the model attends to."""
        d = self.width
        network = Block({"0": layer_norm(d), "1": Linear(d, d * self.factor), "3": Linear(d * self.factor, d)}, "mlp")
        layer = Block({"0": self.attention(d, self.inner, d), "1": network})
        each = {f"mapping_{place}": self._mapping(d, d) for place in range(int(self.scales))}
        return block(
            latents=Tensor((1, self.queries, d), component="embedding"),
            proj_out=Tensor((d, self.outputs), component="projector"),
            layers=Repeat(Indices.below(self.depth), layer),
            **each,
            id_embedding_mapping=self._mapping(self.identity, d * self.tokens),
        )

    def _mapping(self, inputs: int, outputs: int) -> Block:
        d = self.width
        norm, square = layer_norm(d), Linear(d, d, True)
        first, last = Linear(inputs, d, True), Linear(d, outputs, True)
        return Block({"0": first, "1": norm, "3": square, "4": norm, "6": last}, "projector")
