"""TimesFM 2.5: a decoder over patches of a time series, with rotary positions (arXiv:2310.10688)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, gqa, mlp, rms_norm, stack
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("timesfm2_5",)  # transformers 5.23: modeling_timesfm2_5.py
IGNORED = tuple(
    "context_length decode_index force_flip_invariance infer_is_positive use_continuous_quantile_head".split()
)
SPELLINGS = {r"mlp\.fc1\.": "mlp.ff0.", r"mlp\.fc2\.": "mlp.ff1."}

_HEADS = keys.named(("Model",), ModelForPrediction="prediction")
_NORMS = ("input", "post_attention", "pre_feedforward", "post_feedforward")


class Timesfm25(Sizes):
    patch_length: int = size("P", absent=32)
    horizon: int
    quantiles: int
    use_bias: bool


def spec(c: Config) -> Spec[Timesfm25]:
    bias, count = c.bool("use_bias", default=False), 1 + (c.length("quantiles") or 9)
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=80)
    sizes = Timesfm25.read(
        c,
        horizon=keys.dim("t_h", c.int("horizon_length", default=128)) * count,
        quantiles=keys.dim("t_q", c.int("output_quantile_len", default=1024)) * count,
        use_bias=bias,
    )
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=bias))
    return keys.decoder_spec(c, layer, vocab=0, heads=_HEADS).replace(causal=False).having(sizes)


def blueprint(s: Spec[Timesfm25]) -> Block:
    d, of, biased = s.hidden, s.own, s.own.use_bias

    def residual(inputs: int, outputs: int, bias: bool = False) -> Block:
        wide, back, across = Linear(inputs, d, bias), Linear(d, outputs, bias), Linear(inputs, outputs, bias)
        return block("other", input_layer=wide, output_layer=back, residual_layer=across)

    def layer_block(layer: Layer) -> Block:
        attention = altered(gqa(d, layer.attention), scaling=Tensor((layer.attention.head_dim,)))
        network = mlp(d, layer.dense.width, biased, "ff0", "ff1")
        return block(self_attn=attention, mlp=network, **{f"{name}_layernorm": rms_norm(d) for name in _NORMS})

    body = block(input_ff_layer=residual(2 * of.patch_length, d, True), layers=stack(s.layers, layer_block))
    if s.head == "base":
        return body
    ends = {"point": of.horizon, "quantiles": of.quantiles}
    return block(model=body, **{f"output_projection_{name}": residual(d, size) for name, size in ends.items()})
