"""Higgs Audio 2 as published: Llama, some of whose layers have a second network for sounds (bosonai/higgs-audio)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.composite import as_tower
from hfcount.mapper import Config, Sizes, count, derived, flag
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_higgs_audio.py, audio_head.py and configuration_higgs_audio.py of boson-ai/higgs-audio
MODEL_TYPES = ("higgs_audio",)
CLASSES = ("HiggsAudioModel",)
IGNORED = tuple(
    "audio_bos_token audio_decoder_proj_num_layers audio_embed_avg audio_eos_token audio_ffn_hidden_size"
    " audio_ffn_intermediate_size audio_in_token audio_in_token_idx audio_out_bos_token audio_out_token"
    " audio_out_token_idx audio_stream_bos_id audio_stream_eos_id audio_tokenizer_config encode_audio_in_tokens"
    " encode_whisper_embed rq_transformer_hidden_size rq_transformer_intermediate_size"
    " rq_transformer_num_attention_heads rq_transformer_num_hidden_layers rq_transformer_num_key_value_heads"
    " use_delay_pattern use_rq_transformer".split()
)

_ENCODER = {
    "num_mel_bins": 128,
    "encoder_layers": 32,
    "encoder_attention_heads": 20,
    "encoder_ffn_dim": 5120,
    "d_model": 1280,
    "max_source_positions": 1500,
}
_KINDS = ("stack", "dual_ffn", "dual_ffn_fast_forward")
_MARKS = 2  # entries of each codebook beside its codes: a sound begins, and ends


class Heard(Record):
    """Whether a layer has a network for sounds, and attention of their own."""

    network: bool
    attention: bool


class HiggsAudio(Sizes):
    number: int = count("n_q", "audio_num_codebooks", absent=12)
    codes: int = derived(lambda c: keys.dim("|V_a|", c.int("audio_codebook_size", default=1024)) + _MARKS)
    projected: bool = flag("use_audio_out_embed_projector", absent=False)
    deaf: bool = flag("skip_audio_tower", absent=False)


def spec(c: Config) -> Spec[HiggsAudio]:
    known = keys.named(("Model",))
    text = families.part(c, "text_config", always="llama").replace(head="base")
    sizes, kind = HiggsAudio.read(c), c.choice("audio_adapter_type", _KINDS, default="stack")
    apart = c.bool("use_audio_out_self_attention", default=False)
    layer, every = text.layers[0].layer, Indices.below(text.layers[0].indices.count)
    few = Indices.below(0)
    if kind != "stack":
        few = keys.among(c, "audio_dual_ffn_layers", c.ints("audio_dual_ffn_layers", minimum=0), every.count)
        if not c.given("audio_dual_ffn_layers"):
            message = f"audio_adapter_type is {kind}, which needs audio_dual_ffn_layers."
            raise c.malformed(message, "audio_dual_ffn_layers", "HF101")
    layers = keys.split(
        (few, lambda: layer.replace(own=Heard(network=True, attention=apart))),
        (every.difference(few), lambda: layer.replace(own=Heard(network=False, attention=False))),
    )
    parts: dict[str, Spec] = {}
    if not sizes.deaf:
        c.part("audio_encoder_config", defaults=_ENCODER)
        parts["audio"] = families.part(c, "audio_encoder_config", always="whisper_encoder")
    model = keys.composite(c, text.replace(layers=tuple(layers)), parts, heads=known)
    return model.replace(tied=False).having(sizes)


def blueprint(s: Spec[HiggsAudio]) -> Block:
    d, of, rows = s.hidden, s.own, s.own.number * s.own.codes

    def layer_block(layer: Layer) -> Block:
        norm, heard = rms_norm(d), layer.sizes(Heard)
        attention, network = gqa(d, layer.attention), swiglu(d, layer.dense.width, layer.dense.bias)
        usual = pre_norm(d, self_attn=attention, mlp=network)
        if not heard.network:
            return usual
        return altered(
            usual,
            audio_attn=attention.replace(repeats=0) if heard.attention else None,
            audio_post_audio_attn_layer_norm=norm if heard.attention else None,
            audio_mlp=network.replace(repeats=0),  # a text token skips it
            audio_input_layernorm=norm,
            audio_post_attention_layernorm=norm,
        )

    heads = block("lm_head", text_lm_head=Linear(d, s.vocab), audio_lm_head=Linear(d, rows))
    tower = None if of.deaf else families.tower(s, "audio")
    into = None if of.deaf else as_tower(block(linear=Linear(s.part("audio").hidden, d, True)), "projector")
    return block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        audio_tower=tower,
        audio_encoder_proj=into,
        audio_decoder_proj=heads,
        audio_out_embed_projector=Linear(d, d, component="projector") if of.projected else None,
        audio_codebook_embeddings=embedding(rows, d),
    )
