"""ChatGLM2, ChatGLM3 and GLM-4 as first published: fused attention with few key/value heads (arXiv:2406.12793)."""

from typing import cast

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, fused_qkv, fused_swiglu, layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import gated_projection
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, Tied, block, buffer

# modeling_chatglm.py of THUDM/chatglm3-6b, modeling_chatglm.py of THUDM/glm-4v-9b, and visual.py beside it
MODEL_TYPES = ("chatglm",)
CLASSES = ("GLM4VForCausalLM",)
_HEADS = keys.named(
    ("ForConditionalGeneration", "Model", "ForSequenceClassification"), GLM4VForCausalLM="conditional_generation"
)
IGNORED = ("apply_query_key_layer_scaling", "original_rope", "rope_ratio")


class Chatglm(Sizes):
    """Whether norms are of the root mean square, and whether one follows the layers."""

    rmsnorm: bool = flag(absent=True)
    post_layer_norm: bool = flag(absent=True)


def spec(c: Config) -> Spec[Chatglm]:
    if c.has("inner_hidden_size") and not c.has("ffn_hidden_size"):
        # The first of the series has the type, and another architecture, whose family lays it out.
        return cast("Spec[Chatglm]", families.read(c, "chatglm_6b"))
    heads, bias = c.int("num_attention_heads"), c.bool("add_bias_linear", default=False)
    grouped = c.bool("multi_query_attention", default=False)
    mixer = GQA(
        heads=heads,
        kv_heads=c.int("multi_query_group_num", default=1) if grouped else heads,
        head_dim=c.int("kv_channels", default=128),
        qkv_bias=bias or c.bool("add_qkv_bias", default=False),
        out_bias=bias,
    )
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_hidden_size"), bias=bias))
    c.without_effect("num_hidden_layers")  # which GLM-4's configs have besides
    layers = keys.uniform(layer, keys.layer_count(c, "num_layers"))
    sizes = Chatglm.read(c)
    towers = {"vision": families.part(c, "vision_config", "glm4v_9b_vision")} if c.sub("vision_config") else {}
    model = keys.decoder_spec(c, layers, heads=_HEADS, vocab=c.int("padded_vocab_size"), parts=towers)
    return model.having(sizes)


def _vision(s: Spec) -> Block:
    d, width, vision_width = s.hidden, s.layers[0].layer.dense.width, s.part("vision").hidden
    ends, halves = Tensor((1, 1, d)), convolution(vision_width, d, 2)
    return altered(
        families.tower(s, "vision"), linear_proj=gated_projection(d, d, width), conv=halves, boi=ends, eoi=ends
    )


def blueprint(s: Spec[Chatglm]) -> Block:
    d = s.hidden
    norm = rms_norm(d) if s.own.rmsnorm else layer_norm(d)

    def layer_block(layer: Layer) -> Block:
        a, ffn = layer.attention, layer.dense
        out = Linear(a.heads * a.head_dim, d, a.out_bias)
        attention = block("attention", query_key_value=fused_qkv(d, a), dense=out)
        network = fused_swiglu(d, ffn.width, ffn.bias).children
        return block(
            input_layernorm=norm,
            self_attention=attention,
            post_attention_layernorm=norm,
            mlp=block("mlp", dense_h_to_4h=network["gate_up_proj"], dense_4h_to_h=network["down_proj"]),
        )

    # Half of a head turns with the position, and the frequencies are stored.
    turning = s.layers[0].layer.attention.head_dim // 4
    body = block(
        embedding=block(word_embeddings=embedding(s.vocab, d)),
        rotary_pos_emb=block(inv_freq=buffer(turning)),
        encoder=block(layers=stack(s.layers, layer_block), final_layernorm=norm if s.own.post_layer_norm else None),
        output_layer=Linear(d, s.vocab, component="lm_head"),
        vision=_vision(s) if "vision" in s.parts else None,
    )
    classifier = Linear(d, s.labels, bias=True, component="other") if s.head == "sequence_classification" else None
    # Some trainers give the head a second name, which then has no storage of its own.
    second = None if s.head == "base" else Tied("transformer.output_layer.weight", (s.vocab, d), "lm_head")
    return block(transformer=body, classifier_head=classifier, lm_head=second)


def vision_spec(c: Config) -> Spec:
    """The vision tower of the first GLM-4V: EVA-CLIP's layers, a convolution, and a gated network."""
    patches = keys.patches(c, "in_channels")
    return keys.tower(c, heads=("num_heads",), patches=patches, positions=c.int("num_positions"), indivisible="built")


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=layer_norm(d),
            attention=block("attention", query_key_value=Linear(d, 3 * d, True), dense=Linear(d, d, True)),
            mlp=mlp(d, layer.dense.width),
            post_attention_layernorm=layer_norm(d),
        )

    first = Tensor((1, d), component="embedding")
    table = block(cls_embedding=first, position_embedding=positions(s), proj=patch_convolution(s))
    return block(patch_embedding=table, transformer=block(layers=stack(s.layers, layer_block)))


PARTS = (
    families.Family(("glm4v_9b_vision",), vision_spec, vision_blueprint, ignored=("image_size", "scaling_factor")),
)
