"""ACE-Step: a transformer that denoises sound, what it makes of lyrics and of a timbre, and its tokens of sound."""

from hfcount.architectures.components.ace_step import Denoiser, Stack, tokenizer
from hfcount.architectures.keys import dim, layer_count
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

# diffusers 0.42.1: ace_step_transformer.py, modeling_ace_step.py
MODEL_TYPES = (
    "AceStepTransformer1DModel",
    "AceStepConditionEncoder",
    "AceStepLyricEncoder",
    "AceStepTimbreEncoder",
    "AceStepAudioTokenizer",
    "AceStepAudioTokenDetokenizer",
)

_SILENCE, _LEVELS = 15_000, 6
"""The places of silence that a condition is filled up with, and of how many numbers a token of sound is, if unsaid."""


class AceStep(Sizes):
    """Sizes of these architectures: layers that are alike, and how many of them each class has, None where it has none.

    `quantized` is the width of a token of sound, and of how many numbers it is.
    """

    hidden_size: int = size("d")
    intermediate_size: int = size("d_ff")
    num_attention_heads: int = size("h")
    num_key_value_heads: int = size("h_kv")
    head_dim: int = size("h_d")
    attention_bias: bool = flag()
    denoiser: Denoiser | None
    lyrics: Stack | None
    timbre: Stack | None
    sound: Stack | None
    quantized: tuple[int, int] | None


def spec(c: Config) -> Spec[AceStep]:
    complete, name = c.family == "AceStepConditionEncoder", c.family.removeprefix("AceStep")
    sizes = AceStep.read(
        c,
        denoiser=_denoiser(c) if name == "Transformer1DModel" else None,
        lyrics=_stack(c, "lyric_encoder", "text_hidden_dim", "d_t", 0) if complete or name == "LyricEncoder" else None,
        timbre=_timbre(c, not complete) if complete or name == "TimbreEncoder" else None,
        sound=_sound(c, name) if "Token" in name else None,
        quantized=_quantized(c) if name == "AudioTokenizer" else None,
    )
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def _layers(c: Config, key: str, checked: bool = True) -> int:
    """How many layers there are; a list of their kinds must be as long."""
    layers = layer_count(c, key)
    if checked and not c.is_null("layer_types") and len(c.entries("layer_types")) < layers:
        raise c.unequal("layer_types", len(c.entries("layer_types")), key, layers)
    return layers


def _denoiser(c: Config) -> Denoiser:
    width = diffusion.nullable(c, "encoder_hidden_size", "d_c")
    return Denoiser(
        layers=dim("L", _layers(c, "num_hidden_layers")),
        inputs=diffusion.sized(c, "in_channels", "C"),
        sound=diffusion.sized(c, "audio_acoustic_hidden_dim", "C_a"),
        patch=diffusion.sized(c, "patch_size", "p"),
        condition=c.int("hidden_size") if width is None else width,
    )


def _stack(c: Config, name: str, key: str, symbol: str, tokens: int) -> Stack:
    layers = dim(f"L_{name[0]}", _layers(c, f"num_{name}_hidden_layers"))
    return Stack(layers=layers, inputs=diffusion.sized(c, key, symbol), tokens=tokens)


def _timbre(c: Config, checked: bool) -> Stack:
    layers = dim("L_t", _layers(c, "num_timbre_encoder_hidden_layers", checked))
    return Stack(layers=layers, inputs=diffusion.sized(c, "timbre_hidden_dim", "d_y"), tokens=1)


def _sound(c: Config, name: str) -> Stack:
    layers, channels = dim("L_p", _layers(c, "num_attention_pooler_hidden_layers")), c.int("audio_acoustic_hidden_dim")
    back, tokens = name == "AudioTokenDetokenizer", diffusion.sized(c, "pool_window_size", "n_p")
    if not back:
        return Stack(layers=layers, inputs=dim("C_a", channels), tokens=1)
    return Stack(layers=layers, inputs=c.int("hidden_size"), tokens=tokens, sound=dim("C_a", channels))


def _quantized(c: Config) -> tuple[int, int]:
    key = "fsq_input_levels"
    c.int("fsq_input_num_quantizers")
    levels = _LEVELS if c.is_null(key) else dim("n_l", len(c.ints(key)))
    return diffusion.sized(c, "fsq_dim", "d_q"), levels


def blueprint(s: Spec[AceStep]) -> Block:
    of, d = s.own, s.hidden
    attention = _attention(of, d)
    if of.denoiser is not None:
        return of.denoiser.tensors(d, of.intermediate_size, attention, "plain")
    if of.sound is not None:
        return _tokens(of, of.sound, d, attention)
    lyrics, timbre = (
        None if encoder is None else encoder.tensors(d, of.intermediate_size, attention)
        for encoder in (of.lyrics, of.timbre)
    )
    if lyrics is None or timbre is None or of.lyrics is None or of.timbre is None:
        return lyrics or timbre or block()
    return block(
        text_projector=Linear(of.lyrics.inputs, d, component="projector"),
        lyric_encoder=lyrics,
        timbre_encoder=timbre,
        null_condition_emb=Tensor((1, 1, d), component="embedding"),
        silence_latent=buffer(1, _SILENCE, of.timbre.inputs),
    )


def _tokens(of: AceStep, stack: Stack, d: int, attention: Block) -> Block:
    """What makes tokens of sound, or, with a projection at its end, sound of tokens."""
    within = stack.replace(inputs=d).tensors(d, of.intermediate_size, attention)
    if stack.sound is not None:
        return within
    assert of.quantized is not None
    return tokenizer(stack.inputs, d, within, of.quantized, always=True)


def _attention(of: AceStep, d: int) -> Block:
    wide, bias = of.num_attention_heads * of.head_dim, of.attention_bias
    sizes, out = Linear(d, of.num_key_value_heads * of.head_dim, bias), Block({"0": Linear(wide, d, bias)})
    return normed_attention(d, wide, None, bias, rms_norm(of.head_dim), to_k=sizes, to_v=sizes, to_out=out)
