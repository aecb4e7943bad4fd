"""TimesFM, versions 1 and 2: a decoder over patches of a time series (arXiv:2310.10688)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("timesfm",)  # transformers 5.23: modeling_timesfm.py
IGNORED = ("context_length", "min_timescale", "max_timescale", "pad_val")

_HEADS = keys.named(("Model",), ModelForPrediction="prediction")


class Timesfm(Sizes):
    patch_length: int = size("P", absent=32)
    freq_size: int = size("n_f", absent=3)
    horizon: int
    width: int = size("", "intermediate_size")
    use_positional_embedding: bool = flag(absent=False)


def spec(c: Config) -> Spec[Timesfm]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("head_dim", default=80), qkv_bias=True, out_bias=True)
    sizes = Timesfm.read(
        c, horizon=keys.dim("t_h", c.int("horizon_length", default=128)) * (1 + (c.length("quantiles") or 9))
    )
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS).replace(causal=False).having(sizes)


def blueprint(s: Spec[Timesfm]) -> Block:
    d, of = s.hidden, s.own

    def residual(inputs: int, outputs: int) -> Block:
        wide, back = Linear(inputs, of.width, True), Linear(of.width, outputs, True)
        return block("other", input_layer=wide, output_layer=back, residual_layer=Linear(inputs, outputs, True))

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, up="gate_proj", down="down_proj")
        return block(
            self_attn=altered(mha(d, layer.attention, "o_proj"), scaling=Tensor((layer.attention.head_dim,))),
            mlp=altered(network, layer_norm=layer_norm(d)),
            input_layernorm=rms_norm(d),
        )

    body = block(
        input_ff_layer=residual(2 * of.patch_length, d),
        freq_emb=embedding(of.freq_size, d),
        layers=stack(s.layers, layer_block),
        position_emb=block(inv_timescales=buffer(d // 2)) if of.use_positional_embedding else None,
    )
    return body if s.head == "base" else block(decoder=body, horizon_ff_layer=residual(d, of.horizon))
