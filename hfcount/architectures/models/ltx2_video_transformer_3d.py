"""LTX-2: a transformer that denoises a video and its sound, which attend to each other (arXiv:2601.03233)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulation, normed_attention, table
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("LTX2VideoTransformer3DModel",)  # diffusers 0.42.1: transformer_ltx2.py


class Stream(Record):
    """The video or the sound: its sizes, whether its attention is gated, and whether the text is modulated for it."""

    d: int
    heads: int
    inputs: int
    outputs: int
    source: int
    gated: bool
    modulated: bool
    bias: bool


class Ltx2(Sizes):
    """Sizes specific to LTX-2; `gated_network` is whether its networks have a gate."""

    caption_channels: int = size("d_t")
    num_layers: int = count("L")
    norm_elementwise_affine: bool = flag()
    attention_bias: bool = flag()
    attention_out_bias: bool = flag()
    use_prompt_embeddings: bool = flag()
    use_prompt_adaln_single: bool = flag()
    use_keyframes_abs_pos_embedding: bool = flag()
    gated_network: bool = derived(diffusion.gated_activation)
    video: Stream
    audio: Stream


def spec(c: Config) -> Spec[Ltx2]:
    c.choice("qk_norm", ("rms_norm_across_heads",))
    c.choice("rope_type", ("interleaved", "split"))
    sizes = Ltx2.read(c, video=_stream(c, "", ""), audio=_stream(c, "audio_", "a_"))
    return diffusion.diffusing(c, sizes, sizes.video.d)


def _stream(c: Config, prefix: str, letter: str) -> Stream:
    heads, head_dim = c.int(f"{prefix}num_attention_heads"), c.int(f"{prefix}attention_head_dim")
    heads, head_dim = keys.dim(f"{letter}h", heads), keys.dim(f"{letter}h_d", head_dim)
    d = heads * head_dim
    source = diffusion.nullable(c, f"{prefix}cross_attention_dim", f"{letter}d_c")
    inputs = c.int(f"{prefix}in_channels")
    return Stream(
        d=d,
        heads=heads,
        inputs=keys.dim(f"{letter}C", inputs),
        outputs=diffusion.or_else(c, f"{prefix}out_channels", inputs, f"{letter}C_o"),
        source=d if source is None else source,
        gated=c.bool(f"{prefix}gated_attn"),
        modulated=c.bool(f"{prefix}cross_attn_mod"),
        bias=c.bool(f"{prefix}ff_bias"),
    )


def blueprint(s: Spec[Ltx2]) -> Block:
    of, video, audio = s.own, s.own.video, s.own.audio
    prompted = video.modulated or audio.modulated
    keyframes = Tensor((1, video.d), component="embedding") if of.use_keyframes_abs_pos_embedding else None
    parts = dict(block(keyframes_abs_pos_embedding=keyframes).children)
    for stream, prefix in ((video, ""), (audio, "audio_")):
        children = block(
            proj_in=Linear(stream.inputs, stream.d, True, "embedding"),
            caption_projection=time_embedding(of.caption_channels, stream.d) if of.use_prompt_embeddings else None,
            time_embed=modulation(stream.d, 9 if stream.modulated else 6),
            scale_shift_table=table(2, stream.d),
            prompt_adaln=modulation(stream.d, 2) if prompted and of.use_prompt_adaln_single else None,
            proj_out=Linear(stream.d, stream.outputs, True),
        )
        parts |= {f"{prefix}{name}": child for name, child in children.children.items()}
    across = block(
        av_cross_attn_video_scale_shift=modulation(video.d, 4),
        av_cross_attn_audio_scale_shift=modulation(audio.d, 4),
        av_cross_attn_video_a2v_gate=modulation(video.d, 1),
        av_cross_attn_audio_v2a_gate=modulation(audio.d, 1),
        transformer_blocks=Repeat(Indices.below(of.num_layers), _layer(of, prompted)),
    )
    return Block({**parts, **across.children})


def _layer(of: Ltx2, prompted: bool) -> Block:
    video, audio = of.video, of.audio

    def around(stream: Stream) -> Block | None:
        return rms_norm(stream.d) if of.norm_elementwise_affine else None

    parts = dict[str, Block | Tensor | None]()
    for stream, prefix in ((video, ""), (audio, "audio_")):
        norm = around(stream)
        children: dict[str, Block | Tensor | None] = {
            "norm1": norm,
            "attn1": _attention(of, stream, stream.d, stream.d, stream.heads),
            "norm2": norm,
            "attn2": _attention(of, stream, stream.d, stream.source, stream.heads),
            "norm3": norm,
            "ff": feed_forward(stream.d, 4 * stream.d, gated=of.gated_network, bias=stream.bias),
            "scale_shift_table": table(9 if stream.modulated else 6, stream.d),
            "prompt_scale_shift_table": table(2, stream.d) if prompted else None,
        }
        parts |= {f"{prefix}{name}": child for name, child in children.items()}
    return block(
        **parts,
        audio_to_video_norm=around(video),
        audio_to_video_attn=_attention(of, video, audio.d, audio.d, audio.heads),
        video_to_audio_norm=around(audio),
        video_to_audio_attn=_attention(of, audio, audio.d, video.d, audio.heads),
        video_a2v_cross_attn_scale_shift_table=table(5, video.d),
        audio_a2v_cross_attn_scale_shift_table=table(5, audio.d),
    )


def _attention(of: Ltx2, stream: Stream, width: int, source: int, heads: int) -> Block:
    """Attention of a stream, `width` in all heads, to what is `source` wide; a gate has a number for each head."""
    out = Block({"0": Linear(width, stream.d, of.attention_out_bias)})
    gate = Linear(stream.d, heads, True) if stream.gated else None
    return normed_attention(
        stream.d, width, source, of.attention_bias, rms_norm(width), to_out=out, to_gate_logits=gate
    )
