"""ACE-Step 1.5 as published: what denoises sound, its conditions and its tokens of sound, in one model."""

from hfcount.architectures.components.ace_step import Denoiser, Stack, tokenizer
from hfcount.architectures.keys import dim, head_of
from hfcount.architectures.layers import diffusion, gqa
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import GQA, Head, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import shown

# modeling_acestep_v15_turbo.py, modeling_acestep_v15_base.py and, where what makes conditions has sizes of its own,
# modeling_acestep_v15_xl_turbo.py of ace-step/ACE-Step-1.5, and configuration_acestep_v15.py beside them
MODEL_TYPES = ("acestep",)
CLASSES = ("AceStepConditionGenerationModel",)
IGNORED = (
    "is_turbo",
    "lyric_alignment_layers_config",
    "num_audio_decoder_hidden_layers",
    "timbre_fix_frame",
    "vocab_size",
)

_HEADS: dict[str, Head] = {"AceStepConditionGenerationModel": "base"}
_KINDS = ("full_attention", "sliding_attention")
_LEVELS = (8, 8, 8, 5, 5, 5)


class Widths(Record):
    """The sizes of a layer: its width, that of its network, its heads, and those of its keys."""

    d: int
    network: int
    heads: int
    kv_heads: int


class AceStep(Sizes):
    """Sizes of the parts: what denoises, and what makes its conditions and tokens, whose layers may be narrower.

    `quantized` is the width of a token of sound, and of how many numbers it is.
    """

    head_dim: int = size("h_d", absent=128)
    attention_bias: bool = flag(absent=False)
    outer: Widths
    inner: Widths
    denoiser: Denoiser
    lyrics: Stack
    timbre: Stack
    pooler: Stack
    sound: Stack
    quantized: tuple[int, int]


def spec(c: Config) -> Spec[AceStep]:
    name = head_of(c, _HEADS)[0]
    outer = _outer(c)
    inner, pooled = _inner(c, outer), _layers(c, "attention_pooler_", "L_p", 2)
    channels = dim("C_a", c.int("audio_acoustic_hidden_dim", default=64))
    text = dim("d_t", c.int("text_hidden_dim", default=1024))
    timbre = dim("d_y", c.int("timbre_hidden_dim", default=64))
    c.int("fsq_input_num_quantizers", default=1)
    sizes = AceStep.read(
        c,
        outer=outer,
        inner=inner,
        denoiser=Denoiser(
            layers=_layers(c, "", "L", 24),
            inputs=dim("C", c.int("in_channels", default=192)),
            sound=channels,
            patch=dim("p", c.int("patch_size", default=2)),
            condition=inner.d,
        ),
        lyrics=Stack(layers=_layers(c, "lyric_encoder_", "L_l", 8), inputs=text, tokens=0),
        timbre=Stack(layers=_layers(c, "timbre_encoder_", "L_t", 4), inputs=timbre, tokens=1),
        pooler=Stack(layers=pooled, inputs=inner.d, tokens=1),
        sound=Stack(
            layers=pooled, inputs=inner.d, tokens=dim("n_p", c.int("pool_window_size", default=5)), sound=channels
        ),
        quantized=(
            dim("d_q", c.int("fsq_dim", default=2048)),
            dim("n_l", len(c.ints("fsq_input_levels", default=_LEVELS, least=1))),
        ),
    )
    return diffusion.diffusing(c, sizes, outer.d).replace(architecture=name)


def _outer(c: Config) -> Widths:
    heads = c.int("num_attention_heads", default=16)
    absent = None if c.has("num_key_value_heads") else 8
    few = c.int("num_key_value_heads", default=absent)
    return Widths(
        d=dim("d", c.int("hidden_size", default=2048)),
        network=dim("d_ff", c.int("intermediate_size", default=6144)),
        heads=dim("h", heads),
        kv_heads=dim("h_kv", heads if few is None else few),
    )


def _inner(c: Config, outer: Widths) -> Widths:
    """The sizes of what makes conditions and tokens, those of what denoises unless it has a width of its own.

    Raises:
        UnknownArchitecture: it is as wide, but has other sizes, which only some of the published classes take.
    """

    def own(key: str, symbol: str, other: int) -> int:
        value: int | None = c.int(f"encoder_{key}", default=None, minimum=0)
        return dim(symbol, value) if value else other

    inner = Widths(
        d=own("hidden_size", "d_e", outer.d),
        network=own("intermediate_size", "d_ef", outer.network),
        heads=own("num_attention_heads", "h_e", outer.heads),
        kv_heads=own("num_key_value_heads", "h_ek", outer.kv_heads),
    )
    if not c.given("encoder_hidden_size"):
        return outer
    if inner.d == outer.d and inner != outer:
        told = "encoder_hidden_size is hidden_size, but further sizes of the encoder are its own"
        raise UnknownArchitecture(f"{c.where}: {told}: the published classes do not agree on what that means.")
    return inner


def _kinds(c: Config) -> int:
    """For how many layers the list of their kinds is, which all parts share; by default for those that denoise."""
    if not c.given("layer_types"):
        return c.int("num_hidden_layers", default=24)
    kinds = c.strs("layer_types")
    for kind in kinds:
        if kind not in _KINDS:
            text = f"layer_types names {shown(kind)}, but must name some of {', '.join(_KINDS)}."
            raise c.error("unknown-kind", text, "layer_types", observed=kind)
    return len(kinds)


def _layers(c: Config, part: str, symbol: str, absent: int) -> int:
    key, kinds = f"num_{part}hidden_layers", _kinds(c)
    layers = c.int(key, default=absent, maximum=MAX_LAYERS)
    if layers > kinds:
        raise c.unequal("layer_types", kinds, key, layers)
    return dim(symbol, layers)


def blueprint(s: Spec[AceStep]) -> Block:
    of, inner = s.own, s.own.inner
    d, width, attention = inner.d, inner.network, _attention(of, inner)
    encoder = block(
        text_projector=Linear(of.lyrics.inputs, d, component="projector"),
        lyric_encoder=of.lyrics.tensors(d, width, attention),
        timbre_encoder=of.timbre.tensors(d, width, attention),
    )
    pooler = of.pooler.tensors(d, width, attention)
    return block(
        null_condition_emb=Tensor((1, 1, d), component="embedding"),
        decoder=of.denoiser.tensors(of.outer.d, of.outer.network, _attention(of, of.outer), "wrapped"),
        encoder=encoder,
        tokenizer=tokenizer(of.denoiser.sound, d, pooler, of.quantized, always=False),
        detokenizer=of.sound.tensors(d, width, attention),
    )


def _attention(of: AceStep, widths: Widths) -> Block:
    bias = of.attention_bias
    heads = GQA(
        heads=widths.heads,
        kv_heads=widths.kv_heads,
        head_dim=of.head_dim,
        qkv_bias=bias,
        out_bias=bias,
        qk_norm=True,
    )
    whole = gqa(widths.d, heads)
    return whole.replace(children={name: child for name, child in whole.children.items() if name != "rotary_emb"})
