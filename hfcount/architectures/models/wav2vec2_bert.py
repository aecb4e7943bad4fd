"""wav2vec2-BERT: a conformer over filter banks (arXiv:2312.05187)."""

from hfcount.architectures import keys
from hfcount.architectures.components.speech import UNHEARD, Adapter, Speech, speech
from hfcount.architectures.components.waveforms import masking
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.conformer import conformer_attention, conformer_layer, feed_forward, shortening
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("wav2vec2-bert",)  # transformers 5.23: modeling_wav2vec2_bert.py
IGNORED = (*UNHEARD, "left_max_position_embeddings", "right_max_position_embeddings")


class Wav2Vec2Bert(Record):
    """Sizes specific to wav2vec2-BERT.

    `relative` is whether positions are as in Transformer-XL, `distances` how many have a key of their own, and `before`
    whether a network stands before the adapter.
    """

    speech: Speech
    relative: bool
    distances: int | None
    conv_depthwise_kernel_size: int
    feature_projection_input_dim: int
    masked: bool
    before: bool


def spec(c: Config) -> Spec[Wav2Vec2Bert]:
    d = c.int("hidden_size")
    kind = "" if c.is_null("position_embeddings_type") else c.str("position_embeddings_type")
    kernel = c.int("conv_depthwise_kernel_size")
    if kernel % 2 == 0:
        raise c.error(
            "out-of-range", f"conv_depthwise_kernel_size is {kernel:,}, but must be odd.", "conv_depthwise_kernel_size"
        )
    left, right = "left_max_position_embeddings", "right_max_position_embeddings"
    masked, adapting = masking(c), c.bool("add_adapter", default=False)
    before = c.bool("use_intermediate_ffn_before_adapter", default=False)
    if before and not adapting:
        text = "use_intermediate_ffn_before_adapter is true, and add_adapter false."
        raise c.error("contradiction", text, "use_intermediate_ffn_before_adapter")
    distances = c.int(left, minimum=0) + c.int(right, minimum=0) + 1 if kind == "relative_key" else None
    inputs = keys.dim("d_i", c.int("feature_projection_input_dim"))
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible="built")
    body = speech(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)))
    sizes = Wav2Vec2Bert(
        speech=body.own,
        relative=kind == "relative",
        distances=distances,
        conv_depthwise_kernel_size=keys.dim("w", kernel),
        feature_projection_input_dim=inputs,
        masked=masked,
        before=before,
    )
    return body.having(sizes)


def blueprint(s: Spec[Wav2Vec2Bert]) -> Block:
    d, sizes, width = s.hidden, s.own, s.layers[0].layer.dense.width

    def layer_block(layer: Layer) -> Block:
        attention = conformer_attention(d, layer.attention, sizes.relative, sizes.distances or 0)
        return conformer_layer(d, layer, attention, sizes.conv_depthwise_kernel_size, batch=False)

    wide = sizes.feature_projection_input_dim
    body = block(
        masked_spec_embed=Tensor((d,), component="embedding") if sizes.masked else None,
        feature_projection=block("embedding", layer_norm=layer_norm(wide), projection=Linear(wide, d, True)),
        encoder=block(layers=stack(s.layers, layer_block)),
        adapter=_adapter(s, sizes.speech.adapter, width) if sizes.speech.adapter else None,
        intermediate_ffn=feed_forward(d, width) if sizes.before else None,
    )
    return sizes.speech.heads(s, "wav2vec2_bert", body)


def _adapter(s: Spec[Wav2Vec2Bert], of: Adapter, width: int) -> Block:
    d, out, norm = s.hidden, s.output, layer_norm(s.output)
    layer = shortening(out, width, of.adapter_kernel_size, s.layers[0].layer.attention)
    projected = block(proj=Linear(d, out, True), proj_layer_norm=norm).children if out != d else {}
    return Block({**projected, "layers": Repeat(Indices.below(of.num_adapter_layers), layer)}, "other")
