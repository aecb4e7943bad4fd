"""DINOv2, also with registers: a scale on each branch, plain or gated networks (arXiv:2304.07193, arXiv:2309.16588)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT_ATTENTION
from hfcount.architectures.layers.vision import patch_convolution, vit_attention
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_dinov2.py, modeling_dinov2_with_registers.py
MODEL_TYPES = ("dinov2", "dinov2_with_registers")
IGNORED = ("out_indices", "stage_names", "apply_layernorm", "reshape_hidden_states")
SPELLINGS = VIT_ATTENTION | {r"mlp\.weights_out\.": "mlp.down_proj."}
MERGED = {f"mlp.weights_in.{end}": (f"mlp.gate_proj.{end}", f"mlp.up_proj.{end}") for end in ("weight", "bias")}

_HEADS = keys.named(("Model", "ForImageClassification"), Backbone="base")


class Dinov2(Sizes):
    gated: bool
    use_mask_token: bool = flag(absent=True)
    num_register_tokens: int


def spec(c: Config) -> Spec[Dinov2]:
    d, gated = c.int("hidden_size"), c.bool("use_swiglu_ffn", default=False)
    wide = c.times("mlp_ratio", d)
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    bias, heads = c.bool("qkv_bias", default=True), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    sizes = Dinov2.read(
        c,
        gated=gated,
        num_register_tokens=keys.dim("n_r", c.int("num_register_tokens", minimum=0) if _registers(c) else 0),
    )
    rows, layer = keys.squares(c) + 1, Layer(mixer=mixer, ffn=ffn)
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows)
    return model.replace(causal=False, patches=keys.patches(c)).having(sizes)


def _registers(c: Config) -> bool:
    return c.family == "dinov2_with_registers"


def blueprint(s: Spec[Dinov2]) -> Block:
    d, of, scale = s.hidden, s.own, block(lambda1=Tensor((s.hidden,)))

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        gated = block("mlp", weights_in=Linear(d, 2 * width, True), weights_out=Linear(width, d, True))
        network = gated if of.gated else mlp(d, width)
        attention = vit_attention(d, layer.attention)
        norm = layer_norm(d)
        return block(norm1=norm, attention=attention, layer_scale1=scale, norm2=norm, mlp=network, layer_scale2=scale)

    count = of.num_register_tokens
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        mask_token=Tensor((1, d)) if of.use_mask_token else None,
        register_tokens=Tensor((1, count, d)) if s.family == "dinov2_with_registers" else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    body = block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)), layernorm=layer_norm(d))
    return headed(s, s.family, body, image_classification=block(classifier=classifier(s, 2 * d)))
