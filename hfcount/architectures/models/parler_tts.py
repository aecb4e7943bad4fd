"""Parler-TTS: a text encoder reads what a voice is like, a decoder of codebooks what it says (arXiv:2402.01912)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.descript import Descript
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config, Sizes, count, flag, optional, size
from hfcount.spec import GQA, Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# parler_tts/modeling_parler_tts.py, configuration_parler_tts.py, dac_wrapper/ of huggingface/parler-tts 0.2.2
MODEL_TYPES = ("parler_tts",)
CLASSES = ("ParlerTTSForConditionalGeneration",)

_ABSENT = {
    "vocab_size": 2049,
    "max_position_embeddings": 2048,
    "num_hidden_layers": 24,
    "ffn_dim": 4096,
    "num_attention_heads": 16,
    "hidden_size": 1024,
}


class ParlerTts(Sizes):
    """The words of what is said, and whether the decoder attends to them."""

    prompts: int = size("|V_p|", "vocab_size", absent=1024)
    prompt_cross_attention: bool = flag(absent=False)


def spec(c: Config) -> Spec[ParlerTts]:
    text = families.part(c, "decoder", always="parler_tts_decoder").replace(head="causal_lm")
    read, sound = families.part(c, "text_encoder"), c.part("audio_encoder")
    read = read.replace(head="encoder" if "encoder" in read.heads else "base")
    kind = sound.str("model_type")
    own = kind == "dac_on_the_hub" or (kind == "dac" and Descript.names(sound))
    codec = families.part(c, "audio_encoder", always="dac_on_the_hub" if own else "")
    attended = isinstance(text.own, ParlerDecoder) and text.own.cross_attention_hidden_size
    if attended and attended != read.hidden:
        message = f"cross_attention_hidden_size is {attended:,}, and the text encoder has {read.hidden:,}."
        raise c.error("contradiction", message, "decoder", "Correct one of them.")
    heads = ("ForConditionalGeneration",)
    model = keys.composite(c, text, {"encoder": read, "audio": codec}, key="decoder", heads=heads)
    return model.replace(tied=False).having(ParlerTts.read(c))


def blueprint(s: Spec[ParlerTts]) -> Block:
    d, read, text = s.hidden, s.part("encoder"), s.part("text")
    assert isinstance(text.own, ParlerDecoder)
    apart = read.hidden != d and text.own.cross_attention_hidden_size is None
    return block(
        text_encoder=rebased(families.tree(read), "text_encoder"),
        audio_encoder=families.tower(s, "audio"),
        decoder=families.tree(text),
        enc_to_dec_proj=Linear(read.hidden, d, True, "projector") if apart else None,
        embed_prompts=embedding(s.own.prompts, d),
        embed_positions=_waves(text.own.places, d) if s.own.prompt_cross_attention else None,
    )


def _waves(rows: int, d: int) -> Block:
    """A table of sines, which is stored as a parameter."""
    return block("embedding", weights=Tensor((rows, d)))


class ParlerDecoder(Sizes):
    """How many codebooks the decoder reads and writes, how many places it has, and whether these turn its heads."""

    num_codebooks: int = count("n_q", absent=4)
    places: int = size("n_p", "max_position_embeddings")
    rope_embeddings: bool = flag(absent=False)
    use_fused_lm_heads: bool = flag(absent=False)
    cross_attention_hidden_size: int | None = optional("d_x")


class ParlerLayer(Record):
    """A layer of it: the attention to what is described."""

    across: GQA


def decoder_spec(c: Config) -> Spec[ParlerDecoder]:
    """Parler-TTS's decoder: a transformer over several codebooks that attends to a description."""
    c.assuming(_ABSENT)
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    usual = keys.multi_head(c, d, heads, bias=False)
    shared = c.int("num_key_value_heads", default=heads)
    other = c.int("num_cross_attention_key_value_heads", default=shared)
    keys.grouped(c, heads, shared)
    keys.grouped(c, heads, other)
    across = ParlerLayer(across=usual.replace(kv_heads=other))
    layer = Layer(mixer=usual.replace(kv_heads=shared), ffn=Dense(width=c.int("ffn_dim")), own=across)
    sizes, classes = ParlerDecoder.read(c), ("ForCausalLM", "Model")
    model = keys.decoder_spec(c, layer, hidden=d, heads=classes, uncounted=keys.ACROSS)
    return model.replace(tied=False).having(sizes)


def decoder_blueprint(s: Spec[ParlerDecoder]) -> Block:
    d, books = s.hidden, Indices.below(s.own.num_codebooks)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            self_attn=mha(d, layer.attention),
            self_attn_layer_norm=layer_norm(d),
            encoder_attn=mha(d, layer.sizes(ParlerLayer).across),
            encoder_attn_layer_norm=layer_norm(d),
            fc1=Linear(d, width),
            fc2=Linear(width, d),
            final_layer_norm=layer_norm(d),
        )

    body = block(
        decoder=block(
            embed_tokens=Repeat(books, embedding(s.vocab + 1, d)),
            embed_positions=None if s.own.rope_embeddings else _waves(s.own.places, d),
            layers=stack(s.layers, layer_block),
            layer_norm=layer_norm(d),
        )
    )
    if s.head == "base":
        return body
    apart = Repeat(books, Linear(d, s.vocab, component="lm_head"))
    whole = Linear(d, s.own.num_codebooks * s.vocab, component="lm_head")
    return block(model=body, lm_heads=whole if s.own.use_fused_lm_heads else apart)


def codec_spec(c: Config) -> Spec[Descript]:
    """DAC under the names of its own library, as Parler-TTS has it."""
    sizes = Descript.read(c)
    return keys.encoding(c, [], hidden=sizes.latent_dim).having(sizes)


def codec_blueprint(s: Spec[Descript]) -> Block:
    return block(model=s.own.tensors())


PARTS = (
    families.Family(
        ("parler_tts_decoder",),
        decoder_spec,
        decoder_blueprint,
        classes=("ParlerTTSForCausalLM", "ParlerTTSModel"),
        ignored=("codebook_weights", "cross_attention_implementation_strategy", "layerdrop", "scale_embedding"),
    ),
    families.Family(
        ("dac_on_the_hub",), codec_spec, codec_blueprint, ignored=("frame_rate", "model_bitrate", "sampling_rate")
    ),
)
