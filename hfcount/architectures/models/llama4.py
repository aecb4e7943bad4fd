"""Llama 4: its language model and a tower whose patches are merged (model card of Llama-4-Scout-17B-16E)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    decoder,
    gqa,
    layer_norm,
    mlp,
    network,
    pre_norm,
    stack,
    stacked,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.vision import patch_projection
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("llama4",)  # transformers 5.23: modeling_llama4.py


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "ForCausalLM"))
    # The nested language model has its own head, so the outer tie_word_embeddings does not apply to it.
    return model.replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    body = families.base(s)
    if s.head == "causal_lm":
        return with_head(s, body)
    projector = block(
        "projector", linear_1=Linear(s.part("vision").sizes(Llama4VisionModel).vision_output_dim, s.hidden)
    )
    return llava(s, body, vision_model=families.tower(s, "vision"), multi_modal_projector=projector)


def text_spec(c: Config) -> Spec:
    """Llama 4, the language model: a routed and a shared expert in every layer or some (Llama 4 model card)."""
    bias, every = c.bool("attention_bias", default=False), Indices.below(keys.layer_count(c))
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, head_dim=width)
    step, listed = c.int("interleave_moe_layer_step", default=1, minimum=1, maximum=MAX_LAYERS), c.ints("moe_layers")
    routed = Indices.of(
        (number for number in listed if number in every)
        if c.length("moe_layers") is not None
        else every.base[step - 1 :: step]
    )

    def experts() -> MoE:
        ffn = keys.moe(c, "intermediate_size")
        return ffn.replace(shared=ffn.width)

    def chunked() -> Indices:
        """The layers with rotary positions: those that no_rope_layers marks with a 1."""
        if marks := c.ints("no_rope_layers"):
            return keys.listing(c, "no_rope_layers", marks, 1, 0)[0]
        return keys.all_but_every_nth(c, 4, key="no_rope_layer_interval")

    windows = keys.sliding(c, chunked, default=8192, key="attention_chunk_size", kind="chunked_attention")
    layers = keys.networks(c, (every.difference(routed), routed), experts, mixer, width="intermediate_size_mlp")
    return keys.decoder_spec(c, layers, windows=windows)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return block(
            router=Linear(d, m.experts, component="router"),
            experts=block("experts", gate_up_proj=stacked(m, d, 2 * m.width), down_proj=stacked(m, m.width, d)),
            shared_expert=swiglu(d, m.width),
        )

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), feed_forward=network(d, layer, moe))

    return decoder(s, layer_block)


class Llama4VisionModel(Sizes):
    projector_input_dim: int = size("d_p")
    vision_output_dim: int = size("d_t")


def vision_spec(c: Config) -> Spec[Llama4VisionModel]:
    """Llama 4's vision tower: as CLIP's, with an adapter on merged patches (model card of Llama-4-Scout-17B-16E)."""
    rows, out = keys.squares(c) + 1, c.int("projector_output_dim")
    sizes = Llama4VisionModel.read(c)
    return keys.tower(c, patches=keys.patches(c), positions=rows, out=out, indivisible="run").having(sizes)


def vision_blueprint(s: Spec[Llama4VisionModel]) -> Block:
    d, out, width = s.hidden, s.output, s.layers[0].layer.dense.width

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=mha(d, layer.attention, "o_proj"),
            mlp=mlp(d, layer.dense.width),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    adapter = block("projector", fc1=Linear(width, s.own.projector_input_dim), fc2=Linear(out, out))
    return block(
        class_embedding=Tensor((d,), component="embedding"),
        positional_embedding_vlm=Tensor((s.positions or 0, d), component="embedding"),
        patch_embedding=block(linear=patch_projection(s)),
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        model=block(layers=stack(s.layers, layer_block)),
        vision_adapter=block(mlp=adapter),
    )


PARTS = (
    families.Family(
        ("llama4_text",),
        text_spec,
        text_blueprint,
        ignored=("no_rope_layer_interval", "no_rope_layers"),
        within={"llama4_text": ("language_model.", "")},
    ),
    families.Family(
        ("llama4_vision_model",), vision_spec, vision_blueprint, ignored=("vision_feature_layer",)
    ),  # which output is taken (transformers 4.57.1: configuration_llama4.py:127)
)
