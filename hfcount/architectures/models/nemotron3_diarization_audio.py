"""NeMo's transformers over stacked frames: who speaks, what is said, and which word when (model cards)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, stack
from hfcount.architectures.layers.temporal import upsampling
from hfcount.architectures.layers.vision import clip_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_nemotron3_diarization.py, modeling_nemotron3_5_transcribe.py
MODEL_TYPES = (
    "nemotron3_diarization_audio",
    "nemotron3_5_transcribe_asr_audio",
    "nemotron3_5_transcribe_word_timestamp",
)
IGNORED = ("vocab_size", "residual_scale")


class Lengthened(Sizes):
    """What begins by making several frames of each."""

    upsampling_factor: int = size("u")


class Stacked(Record):
    """What begins with frames joined to one of so many elements."""

    stacked: int


def spec(c: Config) -> Spec[Lengthened | Stacked]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    keys.divides(c, "num_attention_heads", heads, "hidden_size", d)
    mixer = keys.multi_head(c, d, heads, qkv_bias=False, own_width=True)
    mixer = mixer.replace(kv_heads=c.int("num_key_value_heads", default=heads), qk_norm=c.family != MODEL_TYPES[0])
    sizes: Lengthened | Stacked
    if c.family.endswith("word_timestamp"):
        sizes = Lengthened.read(c)
    else:
        sizes = Stacked(stacked=c.int("subsampling_factor") * c.int("num_mel_bins"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=True))
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d).having(sizes)


def blueprint(s: Spec[Lengthened | Stacked]) -> Block:
    d, sizes = s.hidden, s.own
    layers = stack(s.layers, lambda layer: altered(clip_layer(d, layer), self_attn=_attention(d, layer.attention)))
    stacked = sizes.stacked if isinstance(sizes, Stacked) else None
    factor = sizes.upsampling_factor if isinstance(sizes, Lengthened) else None
    return block(
        upsampler=upsampling(d, d, factor, component="embedding") if factor else None,
        embedder=block("embedding", projection=Linear(stacked, d)) if stacked else None,
        input_layer_norm=layer_norm(d),
        layers=layers,
        layer_norm=layer_norm(d),
    )


def _attention(d: int, a: GQA) -> Block:
    queries, norm = a.heads * a.head_dim, layer_norm(a.head_dim) if a.qk_norm else None
    return block(
        "attention",
        q_proj=Linear(d, queries),
        k_proj=Linear(d, a.kv_heads * a.head_dim),
        v_proj=Linear(d, queries),
        o_proj=Linear(queries, d, True),
        q_norm=norm,
        k_norm=norm,
    )
