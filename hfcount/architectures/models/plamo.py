"""PLaMo 13B: attention and network side by side behind one norm, heads that share keys in groups of a given size."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("plamo",)  # modeling_plamo.py of pfnet/plamo-13b, plamo.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("num_key_value_heads",)


def spec(c: Config) -> Spec:
    d, heads, group = c.int("hidden_size"), c.int("num_attention_heads"), c.int("n_shared_head", default=8)
    model = keys.multi_head(c, d, heads, bias=False)
    mixer = model.replace(
        kv_heads=keys.derived_dim(c, "h_kv", -(-heads // group), "{num_attention_heads} / {n_shared_head}")
    )
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), hidden=d, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width), norm=rms_norm(d))

    layers = block(layers=stack(s.layers, layer_block))
    return with_head(s, block(embed_tokens=embedding(s.vocab, d), layers=layers, norm=rms_norm(d)))
