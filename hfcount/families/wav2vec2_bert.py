"""wav2vec2-BERT: a conformer over filter banks (arXiv:2312.05187)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.speech import conformer_attention, conformer_layer, feed_forward, shortening, speech_heads
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("wav2vec2-bert",)  # transformers 5.23: modeling_wav2vec2_bert.py
IGNORED = (*keys.UNHEARD, "left_max_position_embeddings", "right_max_position_embeddings")


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    kind = "" if c.is_null("position_embeddings_type") else c.str("position_embeddings_type")
    kernel = c.int("conv_depthwise_kernel_size")
    if kernel % 2 == 0:
        raise c.error(f"conv_depthwise_kernel_size is {kernel:,}, and must be odd.", "conv_depthwise_kernel_size")
    left, right = "left_max_position_embeddings", "right_max_position_embeddings"
    masks = [
        c.number(f"mask_{what}_prob", default=usual, zero=True) for what, usual in (("time", 0.05), ("feature", 0))
    ]
    adapting = c.bool("add_adapter", default=False)
    before = c.bool("use_intermediate_ffn_before_adapter", default=False)
    if before and not adapting:
        said = "use_intermediate_ffn_before_adapter is true, and add_adapter false."
        raise c.error(said, "use_intermediate_ffn_before_adapter")
    traits = {
        "relative": kind == "relative",
        "distances": c.int(left, minimum=0) + c.int(right, minimum=0) + 1 if kind == "relative_key" else 0,
        "conv_depthwise_kernel_size": keys.sized("w", kernel),
        "feature_projection_input_dim": keys.sized("d_i", c.int("feature_projection_input_dim")),
        "masked": any(masks),
        "before": before,
    }
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), uneven="built")
    return keys.speech(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), traits)


def blueprint(s: Spec) -> Block:
    d, of, width = s.hidden, s.traits, s.layers[0].layer.dense.width

    def layer(one: Layer) -> Block:
        attention = conformer_attention(d, one.attention, bool(of["relative"]), of["distances"])
        return conformer_layer(d, one, attention, of["conv_depthwise_kernel_size"], batch=False)

    wide = of["feature_projection_input_dim"]
    body = block(
        masked_spec_embed=Tensor((d,), component="embedding") if of["masked"] else None,
        feature_projection=block("embedding", layer_norm=layer_norm(wide), projection=Linear(wide, d, True)),
        encoder=block(layers=stack(s.layers, layer)),
        adapter=_adapter(s, width) if "num_adapter_layers" in of else None,
        intermediate_ffn=feed_forward(d, width) if of["before"] else None,
    )
    return speech_heads(s, "wav2vec2_bert", body)


def _adapter(s: Spec, width: int) -> Block:
    d, out, norm = s.hidden, s.output, layer_norm(s.output)
    one = shortening(out, width, s.traits["adapter_kernel_size"], s.layers[0].layer.attention)
    projected = block(proj=Linear(d, out, True), proj_layer_norm=norm).children if out != d else {}
    return Block({**projected, "layers": Repeat(Indices.below(s.traits["num_adapter_layers"]), one)}, "other")
