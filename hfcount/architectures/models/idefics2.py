"""Idefics 2: patches in a perceiver's few latents, before any language model (arXiv:2405.02246)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, gqa, lm_head, rms_norm, stack, swiglu
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("idefics2",)  # transformers 5.23: modeling_idefics2.py


class Idefics2(Sizes):
    intermediate_size: int


def spec(c: Config) -> Spec[Idefics2]:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    sampler = families.part(c, "perceiver_config").replace(hidden=text.hidden)  # which it is made as wide as
    parts = {"vision": vision, "perceiver": sampler}
    width = c.part("text_config").int("intermediate_size")
    heads = ("ForConditionalGeneration", "Model")
    sizes = Idefics2.read(c, intermediate_size=keys.dim("d_ff", width))
    return keys.composite(c, text, parts, heads=heads).having(sizes)


def blueprint(s: Spec[Idefics2]) -> Block:
    vision_width, width = s.part("vision").hidden, s.own.intermediate_size
    wide = block(**{**swiglu(vision_width, width).children, "down_proj": swiglu(s.hidden, width).children["down_proj"]})
    sampler = families.tree(s.part("perceiver"))
    connector = Block({"modality_projection": wide, "perceiver_resampler": sampler}, "projector", repeats=0)
    tower = families.tower(s, "vision")
    inner = block(vision_model=tower, connector=connector, text_model=families.base(s))
    if s.head == "base":
        return inner
    return block(model=inner, lm_head=lm_head(s, "model.text_model.embed_tokens.weight"))


_HEADS = keys.named(PerceiverResampler="base")


class Idefics2Perceiver(Sizes):
    latents: int = size("n_l", "resampler_n_latents")


def perceiver_spec(c: Config) -> Spec[Idefics2Perceiver]:
    """Idefics 2's perceiver: latents that attend to patches and to themselves (arXiv:2103.03206)."""
    d = c.int("hidden_size")
    heads, kv_heads = c.int("resampler_n_heads"), c.int("num_key_value_heads")
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int("resampler_head_dim"))
    layers = keys.uniform(Layer(mixer=mixer), c.int("resampler_depth", maximum=MAX_LAYERS))
    sizes = Idefics2Perceiver.read(c)
    return keys.encoding(c, layers, _HEADS, hidden=d).having(sizes)


def perceiver_blueprint(s: Spec[Idefics2Perceiver]) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        return block(
            input_latents_norm=norm,
            input_context_norm=norm,
            self_attn=altered(gqa(d, layer.attention), rotary_emb=None),
            post_attention_layernorm=norm,
            mlp=swiglu(d, 4 * d),
        )

    return block(latents=Tensor((s.own.latents, d)), layers=stack(s.layers, layer_block), norm=norm)


PARTS = (families.Family(("idefics2_perceiver",), perceiver_spec, perceiver_blueprint),)
