"""What lies between the language model of LTX-2 and its transformer, and what says how long its sound is.

The connectors make of a text what the video and the sound attend to; the duration head reads both.
"""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# diffusers 0.42.1: connectors.py, duration_head.py
MODEL_TYPES = ("LTX2TextConnectors", "LTX2DurationHead")


class Connector(Record):
    """What makes of a text what one of both attends to: `registers` are the tokens that it learns, None without.

    `own` is the width that the text is projected to for it alone, None where both share a projection.
    """

    heads: int
    width: int
    layers: int
    registers: int | None
    gated: bool
    own: int | None


class Connectors(Sizes):
    """Both connectors, and the widths of the text before and behind what projects it."""

    inputs: int
    shared: int
    bias: bool
    video: Connector
    audio: Connector


class Duration(Sizes):
    video_cross_attention_dim: int = size("d_v")
    audio_cross_attention_dim: int = size("d_a")
    pooler_hidden_dim: int = size("d")
    num_queries: int = size("n_q", minimum=0)
    mlp_hidden_dim: int = size("d_ff")


def spec(c: Config) -> Spec[Connectors | Duration]:
    if c.family == "LTX2DurationHead":
        head = Duration.read(c)
        return diffusion.diffusing(c, head, head.pooler_hidden_dim)
    caption = diffusion.sized(c, "caption_channels", "d_t")
    c.choice("rope_type", ("interleaved", "split"))
    sizes = Connectors.read(
        c,
        inputs=caption * diffusion.sized(c, "text_proj_in_factor", "n_t"),
        shared=caption,
        bias=c.bool("proj_bias"),
        video=_connector(c, "video"),
        audio=_connector(c, "audio"),
    )
    return diffusion.diffusing(c, sizes, sizes.video.width)


def _connector(c: Config, name: str) -> Connector:
    letter, prefix = name[0], f"{name}_connector_"
    heads = diffusion.sized(c, f"{prefix}num_attention_heads", f"h_{letter}")
    return Connector(
        heads=heads,
        width=heads * diffusion.sized(c, f"{prefix}attention_head_dim", f"h_{letter}d"),
        layers=keys.dim(f"L_{letter}", c.int(f"{prefix}num_layers", maximum=MAX_LAYERS)),
        registers=diffusion.nullable(c, f"{prefix}num_learnable_registers", f"n_{letter}"),
        gated=c.bool(f"{name}_gated_attn"),
        own=diffusion.sized(c, f"{name}_hidden_dim", f"d_{letter}") if c.bool("per_modality_projections") else None,
    )


def blueprint(s: Spec[Connectors | Duration]) -> Block:
    if isinstance(s.own, Duration):
        return _duration(s.own)
    of = s.own

    def projection(connector: Connector) -> Linear | None:
        return None if connector.own is None else Linear(of.inputs, connector.own, of.bias, "projector")

    shared = Linear(of.inputs, of.shared, of.bias, "projector") if of.video.own is None else None
    return block(
        video_text_proj_in=projection(of.video),
        audio_text_proj_in=projection(of.audio),
        text_proj_in=shared,
        video_connector=_layers(of.video),
        audio_connector=_layers(of.audio),
    )


def _layers(connector: Connector) -> Block:
    d, gate = connector.width, Linear(connector.width, connector.heads, True) if connector.gated else None
    layer = block(attn1=normed_attention(d, d, norm=rms_norm(d), to_gate_logits=gate), ff=feed_forward(d, 4 * d))
    learned = None if connector.registers is None else Tensor((connector.registers, d), component="embedding")
    return block(learnable_registers=learned, transformer_blocks=Repeat(Indices.below(connector.layers), layer))


def _duration(of: Duration) -> Block:
    d = of.pooler_hidden_dim
    square, modality = Linear(d, d, True), Tensor((d,), component="embedding")
    queries = Tensor((of.num_queries, d))
    pooler = block("attention", query_tokens=queries, to_q=square, to_k=square, to_v=square, to_out=square)
    return block(
        video_input_proj=Linear(of.video_cross_attention_dim, d, True, "projector"),
        video_modality_emb=modality,
        audio_input_proj=Linear(of.audio_cross_attention_dim, d, True, "projector"),
        audio_modality_emb=modality,
        attention_pooler=pooler,
        mlp_hidden=Linear(d * of.num_queries, of.mlp_hidden_dim, True, "mlp"),
        mlp_out=Linear(of.mlp_hidden_dim, 1, True, "mlp"),
    )
