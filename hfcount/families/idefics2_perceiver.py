"""Idefics 2's perceiver: latents that attend to patches and to themselves (arXiv:2103.03206)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, gqa, rms_norm, stack, swiglu
from hfcount.spec import GQA, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("idefics2_perceiver",)  # transformers 5.23: modeling_idefics2.py

_HEADS = keys.named(PerceiverResampler="base")


class Idefics2Perceiver(Sizes):
    """What this architecture alone has."""

    latents: int = size("n_l", "resampler_n_latents")


def spec(c: Config) -> Spec[Idefics2Perceiver]:
    d = c.int("hidden_size")
    heads, kv_heads = c.int("resampler_n_heads"), c.int("num_key_value_heads")
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int("resampler_head_dim"))
    layers = keys.uniform(Layer(mixer=mixer), c.int("resampler_depth", maximum=MAX_LAYERS))
    own = Idefics2Perceiver.read(c)
    return keys.encoding(c, layers, _HEADS, hidden=d).having(own)


def blueprint(s: Spec[Idefics2Perceiver]) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        return block(
            input_latents_norm=norm,
            input_context_norm=norm,
            self_attn=altered(gqa(d, one.attention), rotary_emb=None),
            post_attention_layernorm=norm,
            mlp=swiglu(d, 4 * d),
        )

    return block(latents=Tensor((s.own.latents, d)), layers=stack(s.layers, layer), norm=norm)
