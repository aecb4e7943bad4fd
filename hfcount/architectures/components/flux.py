"""Flux of diffusers: joint blocks with weights for image and text each, then blocks over one sequence."""

from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Sizes, count, flag, size
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

STEP = 256
"""The width of the features of a step, before they are embedded."""


class Flux(Sizes):
    """The sizes that a Flux model and its ControlNets share."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    num_layers: int = count("L1", minimum=0)
    num_single_layers: int = count("L2", minimum=0)
    in_channels: int = size("C_i")
    joint_attention_dim: int = size("d_c")
    pooled_projection_dim: int = size("d_p")
    guidance_embeds: bool = flag()

    @property
    def width(self) -> int:
        """The width of the sequence."""
        return self.num_attention_heads * self.attention_head_dim

    def tensors(self) -> dict[str, Node]:
        """The embeddings and all blocks."""
        d = self.width
        times = block(
            timestep_embedder=time_embedding(STEP, d),
            guidance_embedder=time_embedding(STEP, d) if self.guidance_embeds else None,
            text_embedder=time_embedding(self.pooled_projection_dim, d),
        )
        return {
            "x_embedder": Linear(self.in_channels, d, True, "embedding"),
            "context_embedder": Linear(self.joint_attention_dim, d, True, "embedding"),
            "time_text_embed": times,
            "transformer_blocks": Repeat(Indices.below(self.num_layers), self._double()),
            "single_transformer_blocks": Repeat(Indices.below(self.num_single_layers), self._single()),
        }

    def _double(self) -> Block:
        """A joint block, with separate weights for image and text."""
        d, norm, square = self.width, rms_norm(self.attention_head_dim), Linear(self.width, self.width, True)
        added = dict.fromkeys(("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out"), square)
        norms = dict.fromkeys(("norm_q", "norm_k", "norm_added_q", "norm_added_k"), norm)
        return block(
            norm1=modulation(d, 6),
            norm1_context=modulation(d, 6),
            attn=altered(attention(d, d), **added, **norms),
            ff=feed_forward(d, 4 * d),
            ff_context=feed_forward(d, 4 * d),
        )

    def _single(self) -> Block:
        """A block of attention and network side by side."""
        d, norm, square = self.width, rms_norm(self.attention_head_dim), Linear(self.width, self.width, True)
        return block(
            norm=modulation(d, 3),
            proj_mlp=Linear(d, 4 * d, True, "mlp"),
            proj_out=Linear(d + 4 * d, d, True, "mlp"),
            attn=block("attention", to_q=square, to_k=square, to_v=square, norm_q=norm, norm_k=norm),
        )


def modulation(d: int, times: int, inputs: int | None = None) -> Block:
    """The scale and shift of a norm, from the embedding of a step. Tensors: linear (times·d, inputs or d)."""
    return block("norm", linear=Linear(inputs or d, times * d, True))
