"""MiniCPM-o 2.6 and 4.5: SigLIP's tower and Whisper's before Qwen, and speech after it (arXiv:2408.01800)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, base, embedding, gqa, layer_norm, pre_norm, swiglu
from hfcount.architectures.layers.composite import as_tower, two_layers
from hfcount.architectures.layers.temporal import conv
from hfcount.architectures.models.minicpmv import MiniCPMV
from hfcount.architectures.models.minicpmv import blueprint as minicpmv
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block
from hfcount.text import printable

MODEL_TYPES = ("minicpmo",)  # modeling_minicpmo.py of openbmb/MiniCPM-o-2_6 and openbmb/MiniCPM-o-4_5
IGNORED = tuple(
    "audio_chunk_length audio_pool_step batch_vision_input chunk_input slice_config slice_mode stream_input "
    "use_image_id vision_batch_size".split()
)


# configuration_minicpm.py of openbmb/MiniCPM-o-2_6.
_SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "image_size": 980,
    "patch_size": 14,
}
_VERSIONS = {"2.6": ("qwen2", "conditional_chattts"), "4.5": ("qwen3", "minicpmtts")}


class MiniCPMO(MiniCPMV):
    """What MiniCPM-o has besides: whether it sees, hears and speaks."""

    init_vision: bool = flag(absent=True)
    init_audio: bool = flag(absent=True)
    init_tts: bool = flag(absent=True)


def spec(c: Config) -> Spec[MiniCPMO]:
    version = c.str("version", default="2.6")
    words, speech = _VERSIONS.get(version, ("", ""))
    if not words or c.part("tts_config").str("model_type", default=speech) != speech:
        raise UnknownArchitecture(f"{c.where}: version {printable(version, 20)} of MiniCPM-o is not described so.")
    text = families.read(c.as_part().varied("", {"architectures": None}), words)
    inner = c.part("vision_config", defaults={} if c.sub("vision_config") else _SIGLIP)
    vision, audio = (families.read(inner, "idefics2_vision"), families.part(c, "audio_config", "whisper_encoder"))
    if c.bool("drop_vision_last_layer", default=True):
        vision = vision.replace(layers=keys.uniform(vision.layers[0].layer, max(0, vision.depth - 1)))
    sizes = MiniCPMO.read(c, places=False)
    parts = {"vision": vision, "audio": audio, "tts": families.part(c, "tts_config", speech), "text": text}
    heads = keys.named(MiniCPMO="causal_lm")
    return keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts).having(sizes)


def blueprint(s: Spec[MiniCPMO]) -> Block:
    heard = s.part("audio")
    without: dict[str, Node | None] = {} if s.own.init_vision else {"vpm": None, "resampler": None}
    audio: dict[str, Node] = {
        "apm": families.tower(s, "audio"),
        "audio_projection_layer": two_layers(heard.layers[0].layer.dense.width // 4, s.hidden),
    }
    speech: dict[str, Node] = {"tts": as_tower(families.tree(s.part("tts")), "audio")}
    return altered(minicpmv(s), **without, **(audio if s.own.init_audio else {}), **(speech if s.own.init_tts else {}))


# configuration_minicpm.py of openbmb/MiniCPM-o-2_6, configuration_minicpmo.py of openbmb/MiniCPM-o-4_5.
_ABSENT = {
    "llm_dim": 2560,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_attention_heads": 12,
    "num_hidden_layers": 20,
    "num_audio_tokens": 626,
    "num_text_tokens": 21178,
    "num_vq": 4,
    "use_mlp": True,
}
_LATER = _ABSENT | {
    "llm_dim": 4096,
    "num_key_value_heads": 12,
    "num_audio_tokens": 6562,
    "num_text_tokens": 152064,
    "num_vq": 1,
    "projector_type": "mlp",
    "backbone_model": "llama",
}


class ConditionalChattts(Sizes):
    llm_dim: int = size("d_t")
    num_audio_tokens: int = size("|V_a|")
    num_text_tokens: int = size("|V_t|")
    num_vq: int = count("n_q")
    use_mlp: int
    later: bool


def speech_spec(c: Config) -> Spec[ConditionalChattts]:
    """MiniCPM-o's speech: Llama's layers over codes, in 2.6 with a codec of spectrograms (arXiv:2408.01800)."""
    later = c.family == "minicpmtts"
    c = c.assuming(_LATER if later else _ABSENT)
    d, mixed = c.int("hidden_size"), not later or c.str("projector_type") == "mlp"
    if later and (c.str("backbone_model") != "llama" or c.str("projector_type") not in ("mlp", "default")):
        raise UnknownArchitecture(
            f"{c.where}: {c.family} is described with Llama's layers and a plain projector alone."
        )
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False)
    if later:
        mixer = keys.attention(c, derived=True, indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    sizes = ConditionalChattts.read(c, use_mlp=mixed if later else c.bool("use_mlp"), later=later)
    # Llama's own table of words, which it has by default, is built and not used.
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d, vocab=32000).having(sizes)


def speech_blueprint(s: Spec[ConditionalChattts]) -> Block:
    d, of = s.hidden, s.own
    codes, tokens = Indices.below(of.num_vq), of.num_audio_tokens

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    two = block(linear1=Linear(of.llm_dim, d, True), linear2=Linear(d, d, True))
    normed = block(original0=Tensor((tokens, 1)), original1=Tensor((tokens, d)))
    into = two if of.use_mlp else Linear(of.llm_dim, d)
    return block(
        projector=None if of.later else into,
        projector_spk=into if of.later else None,
        projector_semantic=into if of.later else None,
        emb_code=Repeat(codes, embedding(tokens, d)),
        emb_text=embedding(of.num_text_tokens, d),
        head_code=Repeat(codes, block(parametrizations=block(weight=normed))),
        dvae=None if of.later else _codec(),
        model=base(s, layer_block),
    )


def _codec() -> Block:
    """The codec, all of whose sizes are the implementation's."""

    def side(outputs: int) -> Block:
        d, width = 256, 1024
        layer = block(
            dwconv=conv(1, d, 7),
            norm=layer_norm(d),
            pwconv1=Linear(d, width, True),
            pwconv2=Linear(width, d, True),
            coef=Tensor((d,)),
        )
        return block(
            conv_in=Block({"0": conv(512, 128, 3), "2": conv(128, d, 3)}),
            decoder_block=Repeat(Indices.below(12), layer),
            conv_out=conv(d, outputs, 1, bias=False),
        )

    quantizers: Node = Repeat(
        Indices.below(2), block(project_in=Linear(512, 4, True), project_out=Linear(4, 512, True))
    )
    return block(
        coef=Tensor((1, 100, 1)),
        downsample_conv=Block({"0": conv(100, 512, 3), "2": conv(512, 512, 4)}),
        encoder=side(1024),
        decoder=side(512),
        out_conv=conv(512, 100, 3, bias=False),
        vq_layer=block(quantizer=block(rvqs=quantizers)),
    )


PARTS = (
    families.Family(
        ("conditional_chattts", "minicpmtts"),
        speech_spec,
        speech_blueprint,
        ignored=tuple(
            "num_mel_bins num_spk_embs recomputed_chunks use_llm_hidden_state use_speaker_embedding use_text "
            "llm_dim_model_base llm_down_scale normalize_projected_hidden window_size llm_intermediate_size".split()
        ),
    ),
)
