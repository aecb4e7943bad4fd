"""Idefics 2's perceiver: latents that attend to patches and to themselves (arXiv:2103.03206)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, gqa, rms_norm, stack, swiglu
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("idefics2_perceiver",)  # transformers 5.23: modeling_idefics2.py

_HEADS = keys.named(PerceiverResampler="base")


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    heads, kv_heads = c.int("resampler_n_heads"), c.int("num_key_value_heads")
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int("resampler_head_dim"))
    layers = keys.alike(Layer(mixer=mixer), c.int("resampler_depth", maximum=MAX_LAYERS))
    traits = {"latents": keys.sized("n_l", c.int("resampler_n_latents"))}
    return keys.encoding(c, layers, _HEADS, hidden=d, traits=traits)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        return block(
            input_latents_norm=norm,
            input_context_norm=norm,
            self_attn=altered(gqa(d, one.attention), rotary_emb=None),
            post_attention_layernorm=norm,
            mlp=swiglu(d, 4 * d),
        )

    return block(latents=Tensor((s.traits["latents"], d)), layers=stack(s.layers, layer), norm=norm)
