"""Nemotron 3.5 Transcribe: what is said and who says it, before Nemotron-H, stored under NeMo's names (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, layer_norm, stack
from hfcount.architectures.layers.composite import renamed
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.architectures.models.nemotron3_diarization import Nemotron3Diarization
from hfcount.architectures.models.nemotron3_diarization_audio import Lengthened, Stacked
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("nemo_speechlm",)  # transformers 5.23: modeling_nemotron3_5_transcribe.py
MERGED = {"attn.w_qkv.weight": tuple(f"self_attn.{letter}_proj.weight" for letter in "qkv")}

_SORT = r"^perception\.encoder\.diarization_model\.sortformer_modules\."
_WHO = "model.audio_tower.diarization_model."
SPELLINGS = {
    r"^perception\.encoder\.asr_encoder\.": "model.audio_tower.asr_encoder.",
    r"^perception\.encoder\.diarization_model\.encoder\.": f"{_WHO}model.audio_tower.",
    r"^ctc_timestamp\.decoder\.transformer\.": "model.word_timestamp_encoder.",
    r"^ctc_timestamp\.decoder\.upsample\.": "model.word_timestamp_encoder.upsampler.",
    r"^ctc_timestamp\.decoder\.decoder_layers\.0\.": "word_timestamp_head.",
    rf"{_SORT}encoder_proj\.": f"{_WHO}model.proj.",
    rf"{_SORT}subpixel_upsample\.": f"{_WHO}model.upsampler.conv.",
    rf"{_SORT}first_hidden_to_hidden\.": f"{_WHO}classifier.dense.",
    rf"{_SORT}single_hidden_to_spks\.": f"{_WHO}classifier.out_proj.",
    rf"{_SORT}learnable_sil_emb$": f"{_WHO}silence_embeds",
    r"^perception\.encoder\.asr_norm\.": "model.audio_tower.asr_norm.",
    r"^perception\.encoder\.diar_norm\.": "model.audio_tower.speaker_norm.",
    r"^perception\.proj\.": "model.multi_modal_projector.",
    r"^llm\.model\.embed_tokens\.": "model.language_model.embeddings.",
    r"^llm\.model\.norm\.": "model.language_model.norm_f.",
    r"^llm\.model\.layers\.": "model.language_model.layers.",
    r"^llm\.lm_head\.": "lm_head.",
    r"\.pre_encode\.proj\.": ".embedder.projection.",
    r"\.embed_norm\.": ".input_layer_norm.",
    r"\.final_norm\.": ".layer_norm.",
    r"\.norm([12])\.": r".layer_norm\1.",
    r"\.attn\.out_proj\.": ".self_attn.o_proj.",
    r"\.attn\.([qk]_norm)\.": r".self_attn.\1.",
    r"\.attn\.w_qkv\.": ".self_attn.w_qkv.",
    r"\.ffn\.net\.0\.": ".mlp.fc1.",
    r"\.ffn\.net\.3\.": ".mlp.fc2.",
    r"\.mixer\._fp32_params\.": ".mixer.",
}
_TEXT = {
    ".embeddings": "embed_tokens",
    ".norm_f": "norm",
    **{f"mixer.{name}": f"_fp32_params.{name}" for name in ("A_log", "D", "dt_bias")},
}


class WordTimestamps(Sizes):
    """What says when a word is said: the classes of a frame."""

    vocab_size: int = size("|V_w|")


def spec(c: Config) -> Spec[WordTimestamps]:
    text, heard = families.part(c, "text_config"), families.part(c, "audio_config")
    listener = heard.part("diarization").part("audio")
    for part in (heard.part("audio"), listener):
        a = part.layers[0].layer.attention
        if a.kv_heads != a.heads:  # the fused projection is cut into three equal parts
            raise c.error(
                "contradiction", "num_key_value_heads must be num_attention_heads within audio_config.", "audio_config"
            )
    parts = {"audio": heard, "words": families.part(c, "word_timestamp_config")}
    sizes = WordTimestamps.read(c.part("word_timestamp_config"))
    return keys.composite(c, text, parts, heads=("ForConditionalGeneration",)).replace(tied=False).having(sizes)


def blueprint(s: Spec[WordTimestamps]) -> Block:
    d, heard, words = s.hidden, s.part("audio"), s.part("words")
    text, who = heard.part("audio"), heard.part("diarization")
    listener, head = who.part("audio"), Linear(d, s.vocab, component="lm_head")
    sortformer = block(
        "other",
        encoder_proj=Linear(listener.hidden, who.hidden, True),
        subpixel_upsample=conv(who.hidden, who.hidden * who.sizes(Nemotron3Diarization).subsampling_factor, 3),
        first_hidden_to_hidden=Linear(who.hidden, who.hidden, True),
        single_hidden_to_spks=Linear(who.hidden, who.sizes(Nemotron3Diarization).num_speakers, True),
        learnable_sil_emb=Tensor((listener.hidden,)),
    )
    encoder = block(
        asr_encoder=_nemo(text),
        diarization_model=block(encoder=_nemo(listener), sortformer_modules=sortformer),
        asr_norm=layer_norm(heard.hidden),
        diar_norm=layer_norm(who.sizes(Nemotron3Diarization).num_speakers),
    )
    width, factor = words.hidden, words.sizes(Lengthened).upsampling_factor
    decoder = block(
        transformer=_nemo(words),
        upsample=upsampling(width, width, factor),
        decoder_layers=Block({"0": conv(width, s.own.vocab_size, 1)}),
    )
    return block(
        llm=block(model=renamed(families.base(s), _TEXT), lm_head=head),
        perception=Block({"encoder": encoder, "proj": Linear(heard.hidden, d, True)}, "audio", 0),
        ctc_timestamp=Block({"decoder": decoder}, "audio", 0),
    )


def _nemo(s: Spec) -> Block:
    """A stack of frames' transformer, as NeMo names it."""
    d, sizes, norm = s.hidden, s.own, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        queries, small = a.heads * a.head_dim, layer_norm(a.head_dim) if a.qk_norm else None
        attention = block(
            w_qkv=Linear(d, 2 * queries + a.kv_heads * a.head_dim),
            out_proj=Linear(queries, d, True),
            q_norm=small,
            k_norm=small,
        )
        network = Block({"0": Linear(d, width, True), "3": Linear(width, d, True)})
        return block(norm1=norm, norm2=norm, attn=attention, ffn=block(net=network))

    body = block(embed_norm=norm, final_norm=norm, layers=stack(s.layers, layer_block))
    return altered(body, pre_encode=block(proj=Linear(sizes.stacked, d))) if isinstance(sizes, Stacked) else body


def audio_spec(c: Config) -> Spec:
    """Nemotron 3.5 Transcribe's ears: a recogniser's encoder, and a model of who speaks when (model card)."""
    text, who = families.part(c, "asr_config"), families.part(c, "diarization_config")
    return keys.encoding(c, [], hidden=text.hidden, parts={"audio": text, "diarization": who})


def audio_blueprint(s: Spec) -> Block:
    who = s.part("diarization")
    return block(
        asr_encoder=families.tree(s.part("audio")),
        diarization_model=families.tree(who),
        asr_norm=layer_norm(s.hidden),
        speaker_norm=layer_norm(who.sizes(Nemotron3Diarization).num_speakers),
    )


PARTS = (families.Family(("nemotron3_5_transcribe_audio",), audio_spec, audio_blueprint),)
