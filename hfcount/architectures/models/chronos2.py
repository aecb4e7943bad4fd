"""Chronos-2: an encoder of patches, which attends along a series and across those of its group (arXiv:2510.15821)."""

from hfcount.architectures import keys
from hfcount.architectures.components.forecasts import Forecast, forecasts, residual
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = (
    "chronos2",
)  # chronos2/model.py and layers.py of chronos-forecasting 2.3.2, whose configs are of type t5
CLASSES = ("Chronos2Model",)
IGNORED = ("vocab_size", "chronos_pipeline_class")


class Chronos2(Sizes):
    forecast: Forecast = derived(lambda c: forecasts(c, inputs=3, ahead="output_patch_size"))


def spec(c: Config) -> Spec[Chronos2]:
    c.assuming({"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8})
    of, activation = c.part("chronos_config"), c.str("feed_forward_proj", default="relu")
    into, out = of.int("input_patch_size"), of.int("output_patch_size")
    if into != out:
        text = f"input_patch_size is {into:,} and output_patch_size {out:,}, which must be equal."
        raise of.error("contradiction", text, "output_patch_size", "Correct one of them.", expected=into, observed=out)
    if activation.startswith("gated"):
        raise c.error(
            "not-described", f"feed_forward_proj is {activation}, which Chronos-2 refuses.", "feed_forward_proj"
        )
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv", "head_dim"))
    layers = keys.uniform(
        Layer(mixer=mixer, ffn=Dense(width=c.int("d_ff"))), keys.layer_count(c, "num_layers", "num_hidden_layers")
    )
    sizes, known = Chronos2.read(c), keys.named(("Model",))
    model = keys.decoder_spec(c, layers, hidden=d, vocab=sizes.forecast.tokens, heads=known)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[Chronos2]) -> Block:
    d, of, norm = s.hidden, s.own.forecast, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        into = Linear(d, a.heads * a.head_dim)
        attention = block("attention", q=into, k=into, v=into, o=Linear(a.heads * a.head_dim, d))
        attending = block(self_attention=attention, layer_norm=norm)
        network = block(mlp=block("mlp", wi=Linear(d, width), wo=Linear(width, d)), layer_norm=norm)
        return block(layer=Block({"0": attending, "1": attending, "2": network}))

    width = s.layers[0].layer.dense.width
    return block(
        shared=embedding(s.vocab, d),
        input_patch_embedding=residual(of.inputs, width, d),
        encoder=block(block=stack(s.layers, layer_block), final_layer_norm=norm),
        output_patch_embedding=residual(d, width, of.outputs),
    )
