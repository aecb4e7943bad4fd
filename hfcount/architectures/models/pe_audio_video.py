"""Perception Encoder Audiovisual: sound, video and words in one space (https://huggingface.co/facebook/pe-av-large)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.codecs import DacEncoder, ratios
from hfcount.architectures.layers import backbones, gqa, layer_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.composite import as_tower, shared_copy
from hfcount.architectures.layers.temporal import conv
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tensor, block

# transformers 5.23: modeling_pe_audio_video.py, modeling_pe_audio.py, modeling_pe_video.py
MODEL_TYPES = ("pe_audio_video", "pe_audio", "pe_video")

_SENSES: dict[str, Component] = {"audio": "audio", "video": "vision"}


def spec(c: Config) -> Spec:
    name = c.family.removeprefix("pe_")
    encoder = backbones.only(c, families.part(c, f"{name}_config"), f"{c.family}_encoder")
    parts = {"both" if name == "audio_video" else name: encoder}
    tied = c.bool("tie_word_embeddings") if name == "audio_video" else False
    return keys.composite(c, families.part(c, "text_config"), parts, heads=("Model",)).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    text = families.base(s)
    if "both" not in s.parts:
        name = next(sense for sense in _SENSES if sense in s.parts)
        return _pair(name, s.hidden, text, s.parts[name])
    both, d = s.part("both"), s.hidden
    encoder = families.tree(both)
    children: dict[str, Node] = {"text_model": text}
    second = shared_copy(text, buffers=True) if s.tied else text
    for name in _SENSES:
        children[f"{name}_model"] = _pair(name, d, second, both.parts[name])
        children |= _contrast(f"{name}_plus_text", d + both.parts[name].hidden, d)
    inner = dict(encoder.children)
    if s.tied and isinstance(inner["embedder"], Block):
        embedder = dict(inner["embedder"].children)
        second_time = {name: shared_copy(embedder[name], buffers=True) for name in ("audio_encoder", "video_encoder")}
        inner["embedder"] = Block(embedder | second_time)
    children |= {"audio_video_encoder": Block(inner, repeats=0)}
    children |= _contrast("audio_video", both.hidden, d) | _contrast("text_audio_video", d, d)
    return Block(children)


def _pair(name: str, d: int, text: Node, encoder: Spec) -> Block:
    """A model of text and of another sense."""
    heads = {f"{name}_head": _head(encoder.hidden, d)} | _contrast(f"text_{name}", d, d)
    return Block({"text_model": text, f"{name}_encoder": as_tower(families.tree(encoder), _SENSES[name]), **heads})


def _contrast(name: str, inputs: int, d: int) -> dict[str, Node]:
    """The head of what is compared, and how the comparison is scaled."""
    scalar = Tensor((1,), component="other")
    return {f"{name}_head": _head(inputs, d), f"{name}_logit_scale": scalar, f"{name}_logit_bias": scalar}


def _head(inputs: int, d: int) -> Block:
    return block("projector", layer_norm=layer_norm(inputs), proj=Linear(inputs, d))


class PeAudioCodec(Record):
    """What the tower of sound has of DAC: its encoder, `width` wide, and a projection to the width of a codebook."""

    encoder: DacEncoder
    width: int
    codebook_dim: int


def encoder_spec(c: Config) -> Spec[PeAudioCodec | None]:
    """Perception Encoder's towers of sound, of video and of both: frames, a class token, Qwen3's layers (model
    card).
    """
    parts, codec = dict[str, Spec](), None
    if c.family == "pe_audio_encoder":
        codec = _codec(c.part("dac_config"))
    elif c.family == "pe_video_encoder":
        vision = families.part(c, "vision_config", "timm_wrapper").replace(head="image_classification")
        if not vision.labels:
            raise c.error("contradiction", "vision_config must have labels, which are what is read.", "vision_config")
        parts = {"vision": vision}
    else:
        names = ("audio", "video")
        parts = {name: backbones.only(c, families.part(c, f"{name}_config"), f"pe_{name}_encoder") for name in names}
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


def encoder_blueprint(s: Spec[PeAudioCodec | None]) -> Block:
    d, unit = s.hidden, block(groupnorm=layer_norm(s.hidden), project=conv(s.hidden, s.hidden, 3))

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
        )

    first = Tensor((1, 1, d), component="embedding")
    return block(
        embedder=_embedder(s),
        patch_embedder=block(class_embedding=first, resnet_block=block("convolution", block1=unit, block2=unit)),
        layers=stack(s.layers, layer_block),
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
        vision = s.part("vision")
        return block("vision", vision_model=families.tree(vision), proj=Linear(vision.labels, d), data_proj=onward)
    heard, vision = s.part("audio"), s.part("video")
    return block(
        audio_encoder=as_tower(families.tree(heard), "audio"),
        video_encoder=as_tower(families.tree(vision), "vision"),
        video_proj=conv(vision.hidden, heard.hidden, 1),
        video_norm=layer_norm(heard.hidden),
        concat_modality_proj=Linear(heard.hidden + vision.hidden, d, True, "projector"),
        data_proj=Linear(d, d, True, "projector"),
    )


PARTS = (
    families.Family(
        ("pe_audio_video_encoder", "pe_audio_encoder", "pe_video_encoder"),
        encoder_spec,
        encoder_blueprint,
        ignored=tuple(
            "codebook_size decoder_hidden_size hop_length n_codebooks sampling_rate upsampling_ratios".split()
        ),
    ),
)
