"""Granite Speech: a conformer and a Q-Former, which shortens its output, before Granite (arXiv:2505.08699)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_granite_speech.py, modeling_granite_speech_plus.py
MODEL_TYPES = ("granite_speech", "granite_speech_plus")
IGNORED = ("has_lora_adapter",)
SPELLINGS = inside("encoder", "projector")


class GraniteSpeech(Sizes):
    queries: int


def spec(c: Config) -> Spec[GraniteSpeech]:
    text = families.part(c, "text_config")
    towers = {"audio": families.part(c, "encoder_config"), "qformer": families.part(c, "projector_config")}
    queries = c.int("window_size") // c.int("downsample_rate")
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(
        GraniteSpeech.read(c, queries=keys.dim("n_q", queries))
    )


def blueprint(s: Spec[GraniteSpeech]) -> Block:
    former = s.part("qformer")
    projector = block(
        "projector",
        query=Tensor((1, s.own.queries, former.hidden)),
        qformer=families.tree(former),
        linear=Linear(former.hidden, s.hidden, True),
    )
    return llava(s, families.base(s), encoder=families.tower(s, "audio"), projector=projector)


class GraniteSpeechEncoder(Sizes):
    input_dim: int = size("d_i")
    output_dim: int = size("|V|")
    max_pos_emb: int
    conv_kernel_size: int = size("w")
    inner: int


def encoder_spec(c: Config) -> Spec[GraniteSpeechEncoder]:
    """Granite Speech's encoder: a conformer that hears short blocks, its output also guessed midway."""
    d, heads, farthest, context = c.int("hidden_dim"), c.int("num_heads"), c.int("max_pos_emb"), c.int("context_size")
    if context > farthest:
        raise c.error("out-of-range", f"context_size {context:,} exceeds max_pos_emb {farthest:,}.", "context_size")
    width = c.int("dim_head", default=None)
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=d // heads if width is None else width, out_bias=True)
    sizes = GraniteSpeechEncoder.read(
        c, max_pos_emb=keys.dim("n_r", farthest), inner=d * c.int("conv_expansion_factor")
    )
    layer = Layer(mixer=mixer, ffn=Dense(width=d * c.int("feedforward_mult"), bias=True))
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c, "num_layers")), hidden=d).having(sizes)


def encoder_blueprint(s: Spec[GraniteSpeechEncoder]) -> Block:
    d, of, inner = s.hidden, s.own, s.own.inner
    norm = layer_norm(d)
    convolution = block(
        "convolution",
        norm=norm,
        up_conv=conv(d, 2 * inner, 1),
        depth_conv=block(conv=conv(1, inner, of.conv_kernel_size, False)),
        batch_norm=batch_norm(inner),
        down_conv=conv(inner, d, 1),
    )

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        wide = a.heads * a.head_dim
        up, down = Linear(d, width, True), Linear(width, d, True)
        network = block("mlp", pre_norm=norm, up_proj=up, down_proj=down)
        attention = block(
            "attention",
            pre_norm=norm,
            to_q=Linear(d, wide),
            to_kv=Linear(d, 2 * wide),
            to_out=Linear(wide, d, True),
            rel_pos_emb=block(weight=Tensor((2 * of.max_pos_emb + 1, a.head_dim))),
        )
        return block(ff1=network, attn=attention, conv=convolution, ff2=network, post_norm=norm)

    return block(
        input_linear=Linear(of.input_dim, d, True, "embedding"),
        layers=stack(s.layers, layer_block),
        out=Linear(d, of.output_dim, True, "lm_head"),
        out_mid=Linear(of.output_dim, d, True, "other"),
    )


PARTS = (
    families.Family(
        ("granite_speech_encoder", "granite_speech_plus_encoder"),
        encoder_spec,
        encoder_blueprint,
        ignored=("cat_hidden_layers",),
    ),
)
