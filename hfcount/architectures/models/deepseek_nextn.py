"""DeepSeek-V3's layer that predicts further tokens, stored alone (arXiv:2412.19437)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs, series
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.models.deepseek_v3 import blueprint as deepseek_v3
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

# export_deepseek_nextn.py of sgl-project/sglang, and its models/deepseek_nextn.py
MODEL_TYPES = ("deepseek_nextn",)
CLASSES = ("DeepseekV3ForCausalLMNextN",)
MERGED = packed()
IGNORED = ("num_nextn_predict_layers", "num_mtp_layers", "first_k_dense_replace", "moe_layer_freq", "mlp_layer_types")


class DeepseekNextn(Draft):
    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=int(s.hidden), alike=True)


def spec(c: Config) -> Spec[DeepseekNextn]:
    depth = keys.layer_count(c)
    if depth != 1:
        text = f"num_hidden_layers is {depth:,}, and the layer is stored alone, as layer 0."
        c.cannot_run("out-of-range", text, "num_hidden_layers", "Set it to 1.", expected=1, observed=int(depth))
    layer = Layer(mixer=keys.mla(c), ffn=keys.deepseek_moe(c), mtp=True)
    layers = [Layers(indices=Indices.below(1), layer=layer)]
    heads = keys.named(("ForCausalLM",), ForCausalLMNextN="causal_lm")
    return keys.decoder_spec(c, layers, heads=heads).replace(tied=False).having(DeepseekNextn.read(c))


def blueprint(s: Spec[DeepseekNextn]) -> Block:
    (layer,) = series(deepseek_v3(s.replace(head="base")))
    return block(model=block(layers=Repeat(Indices.below(1), layer.replace(component=None))))
