"""CLAP: an audio and a text tower, each with a projection to a common width (arXiv:2211.06687)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.composite import two_layers
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, pooler
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, buffer

MODEL_TYPES = ("clap",)  # transformers 5.23: modeling_clap.py
IGNORED = ("hidden_size", "num_hidden_layers")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    return keys.composite(c, text, towers, heads=("Model",), out=c.int("projection_dim")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    scale = Tensor((), component="other")
    return block(
        logit_scale_a=scale,
        logit_scale_t=scale,
        text_model=families.base(s),
        text_projection=two_layers(s.hidden, s.output),
        audio_model=families.tower(s, "audio"),
        audio_projection=two_layers(s.part("audio").hidden, s.output),
    )


_HEADS = keys.named(("Model",), ModelWithProjection="projection")


class ClapTextModel(Sizes):
    projection_dim: int = size("d_o")


def text_spec(c: Config) -> Spec[ClapTextModel]:
    """CLAP's text tower: RoBERTa (arXiv:2211.06687)."""
    sizes = ClapTextModel.read(c)
    return keys.encoder(c, decoding=False, heads=_HEADS).replace(tied=False).having(sizes)


def text_blueprint(s: Spec[ClapTextModel]) -> Block:
    numbers = buffer(1, s.positions or 0, whole=True)
    embeddings = bert_embeddings(s, more=block(position_ids=numbers, token_type_ids=numbers))
    body = bert_base(s, embeddings=embeddings, pooler=pooler(s, heads=s.heads))
    if s.head == "base":
        return body
    return block(text_model=body, text_projection=two_layers(s.hidden, s.own.projection_dim))


_MAPPED = 4  # channels of a map where parts of a long recording are fused


class ClapAudioModel(Sizes):
    channels: int
    inputs: int
    side: int = size("P", "patch_size")
    window_size: int = size("w")
    num_mel_bins: int = size("m")
    aff_block_r: int = size("r")
    projection_dim: int = size("d_o")
    enable_fusion: bool
    normed: bool = flag("enable_patch_layer_norm", absent=True)


def audio_spec(c: Config) -> Spec[ClapAudioModel]:
    """CLAP's audio tower: Swin over a spectrogram as an image, and parts of it where it is long (arXiv:2211.06687)."""
    first, bias = c.int("patch_embeds_hidden_size"), c.bool("qkv_bias", default=True)
    heads, count = c.ints("num_attention_heads", least=1), c.length("depths") or 0
    widths = [first * 2 ** min(number, 32) for number in range(count)]
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), heads, bias=bias)
    fused = c.bool("enable_fusion", default=False)
    mapped = fused and c.str("fusion_type", default=None) == "channel_map"
    channels = keys.dim("C", c.int("patch_embed_input_channels"))
    sizes = ClapAudioModel.read(
        c, channels=channels, inputs=channels * _MAPPED if mapped else channels, enable_fusion=fused
    )
    further, d = keys.named(ModelWithProjection="projection"), c.int("hidden_size")
    return keys.encoding(c, layers, further, hidden=d, uncounted=keys.COARSER).having(sizes)


def audio_blueprint(s: Spec[ClapAudioModel]) -> Block:
    of, first = s.own, s.layers[0].layer.width
    window = of.window_size
    side, squares = 2 * window - 1, window * window

    def layer_block(layer: Layer) -> Block:
        a, d, wide = layer.attention, layer.width, layer.dense.width
        into = Linear(d, d, a.qkv_bias)
        table, pairs = Tensor((side * side, a.heads)), buffer(squares, squares, whole=True)
        projections = block(
            query=into, key=into, value=into, relative_position_bias_table=table, relative_position_index=pairs
        )
        return block(
            layernorm_before=layer_norm(d),
            attention=block("attention", self=projections, output=block(dense=Linear(d, d, True))),
            layernorm_after=layer_norm(d),
            intermediate=block("mlp", dense=Linear(d, wide, True)),
            output=block("mlp", dense=Linear(wide, d, True)),
        )

    stages, last = dict[str, Block](), first
    for number, part in enumerate(s.layers):
        last = part.layer.width
        coarser = block("other", reduction=Linear(4 * last, 2 * last), norm=layer_norm(4 * last))
        end = number == len(s.layers) - 1
        stages[str(number)] = block(blocks=stack((part,), layer_block), downsample=None if end else coarser)
    patch, narrow = of.side, first // of.aff_block_r

    def weighing(start: int) -> Block:
        steps: list[Node] = [conv(first, narrow, 1, bias=True), batch_norm(narrow)]
        steps += [conv(narrow, first, 1, bias=True), batch_norm(first)]
        places = (start, start + 1, start + 3, start + 4)
        return Block({str(place): step for place, step in zip(places, steps, strict=True)})

    fused = block(local_att=weighing(0), global_att=weighing(1))
    table = block(
        proj=conv(of.inputs, first, patch, bias=True),
        norm=layer_norm(first) if of.normed else None,
        fusion_model=fused if of.enable_fusion else None,
        mel_conv2d=conv(of.channels, first, patch, 3 * patch, bias=True) if of.enable_fusion else None,
    )
    encoder = block(
        patch_embed=table,
        layers=Block(stages),
        batch_norm=batch_norm(of.num_mel_bins),
        norm=layer_norm(last),
    )
    body = block(audio_encoder=encoder)
    if s.head == "base":
        return body
    return block(audio_model=body, audio_projection=two_layers(s.hidden, of.projection_dim))


PARTS = (
    families.Family(("clap_text_model",), text_spec, text_blueprint),
    families.Family(
        ("clap_audio_model",),
        audio_spec,
        audio_blueprint,
        ignored=("num_classes", "num_hidden_layers", "patch_stride", "spec_size", "flatten_patch_embeds"),
    ),
)
