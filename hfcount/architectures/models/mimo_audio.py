"""MiMo-Audio: Qwen2, with small transformers for the codes of a group of steps, read and made (arXiv:2512.23808)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, embedding, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# src/mimo_audio/modeling_mimo_audio.py of XiaomiMiMo/MiMo-Audio, whose configs are of type qwen2
MODEL_TYPES = ("mimo_audio",)
CLASSES = ("MiMoAudioForCausalLM", "MiMoAudioModel")
IGNORED = ("delay_pattern", "input_full_attention", "local_attn_dropout", "speech_zeroemb_idx")

_ABSENT = "1025-1025-129-129-129-129-129-129"


def _books(c: Config) -> tuple[int, ...]:
    """The entries of the table of each channel: a text of numbers with signs between them, or one number for all."""
    key, channels = "speech_vocab_size", c.int("audio_channels", default=8)
    given = c.value(key)
    c.without_effect(key)
    if type(given) is int:
        return (keys.dim("|V_a|", c.int(key)),) * channels
    text = c.str(key, default=_ABSENT)
    numbers = text.split("-") if "-" in text else [text] * channels
    if not all(number.isdecimal() and int(number) for number in numbers):
        raise c.malformed(f"{key} is {text!r}, but must be numbers with signs between them, such as 1025-129.", key)
    if len(numbers) < channels:
        raise c.unequal(key, len(numbers), "audio_channels", channels)
    source = f"{c.path(key)}, by its factors"
    return tuple(Dim.named(f"|V_{place}|", int(one), source) for place, one in enumerate(numbers[:channels], 1))


class MimoAudio(Sizes):
    """Sizes of the small transformers: `local` ones make codes, those of the `input` read them."""

    books: tuple[int, ...] = derived(_books)
    group_size: int = size("g", absent=4)
    local_layers: int = count("N_l", absent=16)
    input_layers: int = count("N_i", "input_local_layers", absent=6)
    local_width: int = size("d_f", "local_ffn_dim", absent=4096)
    local_dim: int = size("d_l", absent=1024)
    input_dim: int = derived(
        lambda c: keys.dim("d_i", c.int("input_local_dim", default=None) or c.int("local_dim", default=1024))
    )
    heads: int = size("h_l", "local_attn_heads", absent=64)


def spec(c: Config) -> Spec[MimoAudio]:
    c.kind = "qwen2"  # whose defaults are its own
    sizes = MimoAudio.read(c)
    for name, width in (("local_dim", sizes.local_dim), ("input_local_dim", sizes.input_dim)):
        keys.divides(c, "local_attn_heads", sizes.heads, name, width, built=True)
    layer = Layer(mixer=keys.attention(c, qkv_bias=True, head_dim=128), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, heads={"ForCausalLM": "causal_lm", "Model": "causal_lm"}).having(sizes)


def blueprint(s: Spec[MimoAudio]) -> Block:
    d, of = s.hidden, s.own
    local, read = of.local_dim, of.input_dim

    def layer_block(d: int, mixer: GQA, width: int) -> Block:
        return pre_norm(d, self_attn=gqa(d, mixer), mlp=swiglu(d, width))

    def small(d: int, width: int, layers: int) -> Block:
        mixer = GQA(heads=of.heads, kv_heads=of.heads, head_dim=d // of.heads, qkv_bias=True)
        return block("audio", layers=Repeat(Indices.below(layers), layer_block(d, mixer, width)), norm=rms_norm(d))

    whole = decoder(s, lambda layer: layer_block(d, layer.attention, layer.dense.width))
    heads = {str(place): Linear(local, rows, component="lm_head") for place, rows in enumerate(of.books)}
    tables = {str(place): embedding(rows, read) for place, rows in enumerate(of.books)}
    apart = None if int(read) == int(local) else Linear(read, local, component="projector")
    return Block(
        {
            **whole.children,
            "local_transformer": small(local, of.local_width, of.local_layers),
            "input_local_transformer": small(read, 4 * read, of.input_layers),
            "local_transformer_lm_heads": Block(heads),
            "speech_embeddings": Block(tables),
            **({"speech_embeddings_to_local": apart} if apart else {}),
            "speech_group_downcast": Linear(read * of.group_size, d, component="projector"),
            "hidden_states_downcast": Linear(d, local, component="projector"),
        }
    )
