"""Perception Encoder's towers of sound, of video and of both: frames, a class token, Qwen3's layers (model card)."""

from hfcount import families, keys
from hfcount.components.codecs import DacEncoder, ratios
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts import gqa, layer_norm, rms_norm, stack, swiglu
from hfcount.parts.composite import as_tower
from hfcount.parts.temporal import conv
from hfcount.spec import Layer, Record, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_pe_audio_video.py, modeling_pe_audio.py, modeling_pe_video.py
MODEL_TYPES = ("pe_audio_video_encoder", "pe_audio_encoder", "pe_video_encoder")
IGNORED = (
    "codebook_size",
    "decoder_hidden_size",
    "hop_length",
    "n_codebooks",
    "sampling_rate",
    "upsampling_ratios",
)


class PeAudioCodec(Record):
    """What the tower of sound has of DAC: its encoder, `width` wide, and a projection to the width of a codebook."""

    encoder: DacEncoder
    width: int
    codebook_dim: int


def spec(c: Config) -> Spec[PeAudioCodec | None]:
    parts, codec = dict[str, Spec](), None
    if c.family == "pe_audio_encoder":
        codec = _codec(c.part("dac_config"))
    elif c.family == "pe_video_encoder":
        seen = families.part(c, "vision_config", "timm_wrapper").replace(head="image_classification")
        if not seen.labels:
            raise c.error("vision_config must have labels, which are what is read.", "vision_config")
        parts = {"vision": seen}
    else:
        names = ("audio", "video")
        parts = {one: keys.only(c, families.part(c, f"{one}_config"), f"pe_{one}_encoder") for one in names}
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=128)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    layers, d = keys.uniform(layer, keys.layer_count(c)), c.int("hidden_size")
    return keys.encoding(c, layers, hidden=d, parts=parts).having(codec)


def _codec(c: Config) -> PeAudioCodec:
    if c.str("model_type", default="dac") != "dac":
        raise UnknownArchitecture(f"{c.where}: pe_audio_encoder is described with dac alone.")
    c.family, narrow = "dac", c.int("encoder_hidden_size")
    down = ratios(c, "downsampling_ratios") if c.length("downsampling_ratios") else ()
    return PeAudioCodec(
        encoder=DacEncoder.of(narrow, down),
        width=keys.dim("d_c", c.int("hidden_size", default=narrow * 2 ** len(down))),
        codebook_dim=keys.dim("d_q", c.int("codebook_dim")),
    )


def blueprint(s: Spec[PeAudioCodec | None]) -> Block:
    d, unit = s.hidden, block(groupnorm=layer_norm(s.hidden), project=conv(s.hidden, s.hidden, 3))

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    first = Tensor((1, 1, d), component="embedding")
    return block(
        embedder=_embedder(s),
        patch_embedder=block(class_embedding=first, resnet_block=block("convolution", block1=unit, block2=unit)),
        layers=stack(s.layers, layer),
        norm=rms_norm(d),
        output=Linear(d, d, component="projector"),
    )


def _embedder(s: Spec[PeAudioCodec | None]) -> Block:
    d, onward = s.hidden, Linear(s.hidden, s.hidden, True)
    if codec := s.own:
        narrow = codec.codebook_dim
        waves, narrowed = codec.encoder.tensors(codec.width), conv(codec.width, narrow, 1)
        return block("audio", dac_encoder=waves, bottleneck=narrowed, data_proj=Linear(narrow, d, True))
    if "vision" in s.parts:
        seen = s.parts["vision"]
        return block("vision", vision_model=families.tree(seen), proj=Linear(seen.labels, d), data_proj=onward)
    heard, seen = s.parts["audio"], s.parts["video"]
    return block(
        audio_encoder=as_tower(families.tree(heard), "audio"),
        video_encoder=as_tower(families.tree(seen), "vision"),
        video_proj=conv(seen.hidden, heard.hidden, 1),
        video_norm=layer_norm(heard.hidden),
        concat_modality_proj=Linear(heard.hidden + seen.hidden, d, True, "projector"),
        data_proj=Linear(d, d, True, "projector"),
    )
