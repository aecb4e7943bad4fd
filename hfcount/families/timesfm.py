"""TimesFM, versions 1 and 2: a decoder over patches of a time series (arXiv:2310.10688)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, layer_norm, mlp, rms_norm, stack
from hfcount.parts.classic import mha
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("timesfm",)  # transformers 5.23: modeling_timesfm.py
IGNORED = ("context_length", "min_timescale", "max_timescale", "pad_val")

_HEADS = keys.named(("Model",), ModelForPrediction="prediction")


def spec(c: Config) -> Spec:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("head_dim", default=80), qkv_bias=True, out_bias=True)
    traits = {
        "patch_length": keys.sized("P", c.int("patch_length", default=32)),
        "freq_size": keys.sized("n_f", c.int("freq_size", default=3)),
        "horizon": keys.sized("t_h", c.int("horizon_length", default=128)) * (1 + (c.length("quantiles") or 9)),
        "width": c.int("intermediate_size"),
        "use_positional_embedding": c.bool("use_positional_embedding", default=False),
    }
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, traits=traits).but(causal=False)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits

    def residual(inputs: int, outputs: int) -> Block:
        wide, back = Linear(inputs, of["width"], True), Linear(of["width"], outputs, True)
        return block("other", input_layer=wide, output_layer=back, residual_layer=Linear(inputs, outputs, True))

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width, up="gate_proj", down="down_proj")
        return block(
            self_attn=altered(mha(d, one.attention, "o_proj"), scaling=Tensor((one.attention.head_dim,))),
            mlp=altered(network, layer_norm=layer_norm(d)),
            input_layernorm=rms_norm(d),
        )

    body = block(
        input_ff_layer=residual(2 * of["patch_length"], d),
        freq_emb=embedding(of["freq_size"], d),
        layers=stack(s.layers, layer),
        position_emb=block(inv_timescales=buffer(d // 2)) if of["use_positional_embedding"] else None,
    )
    return body if s.head == "base" else block(decoder=body, horizon_ff_layer=residual(d, of["horizon"]))
