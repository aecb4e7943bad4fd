"""Llama 3.2 with vision: Llama with layers that attend to an image's tokens (arXiv:2407.21783, section 7)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, gqa, layer_norm, mlp, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("mllama", "mllama_text_model")  # transformers 5.23: modeling_mllama.py
SPELLINGS = inside("vision_model", "multi_modal_projector")


class MllamaLayer(Record):
    """Whether a layer attends to an image's tokens, in place of its own."""

    crosses: bool


def spec(c: Config) -> Spec:
    text = c if c.family == "mllama_text_model" else c.part("text_config")
    every = Indices.below(keys.layer_count(text))
    given = text.ints("cross_attention_layers", default=range(3, 40, 5))
    crossing = keys.among(text, "cross_attention_layers", given, every.count)
    plain = Layer(mixer=keys.attention(text), ffn=keys.dense(text), own=MllamaLayer(crosses=False))
    seeing = plain.replace(mixer=keys.attention(text, qk_norm=True), own=MllamaLayer(crosses=True))
    layers = keys.split((every.difference(crossing), lambda: plain), (crossing, lambda: seeing))
    heads = ("ForCausalLM", "Model") if text is c else ("ForConditionalGeneration", "Model", "ForCausalLM")
    alone = text is c or keys.head_of(c, keys.named(heads))[1] == "causal_lm"
    towers = {} if alone else {"vision": families.part(c, "vision_config")}
    # The head is never tied: the embedding has rows for eight tokens that are not generated.
    why = "some of its layers keep what they see of images, whose number no context tells" if crossing.count else ""
    model = keys.decoder_spec(text, layers, whole=c, heads=heads, parts=towers, uncounted=why)
    return model.replace(tied=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention, crosses = gqa(d, layer.attention), layer.sizes(MllamaLayer).crosses
        gate = Tensor((1,), component="attention") if crosses else None
        return block(
            self_attn=None if crosses else attention,
            cross_attn=attention if crosses else None,
            cross_attn_attn_gate=gate,
            cross_attn_mlp_gate=gate,
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
        )

    body = block(embed_tokens=embedding(s.vocab + 8, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if "vision" not in s.parts:
        return body if s.head == "base" else block(model=body, lm_head=Linear(d, s.vocab, component="lm_head"))
    projector = Linear(s.part("vision").output, d, bias=True, component="projector")
    return llava(s, body, vision_model=families.tower(s, "vision"), multi_modal_projector=projector)


class MllamaVisionModel(Sizes):
    max_num_tiles: int = size("T")
    ratios: int


def vision_spec(c: Config) -> Spec[MllamaVisionModel]:
    """The vision tower of Llama 3.2: an image in tiles, and two stacks of layers (arXiv:2407.21783, section 7)."""
    ratios, rows = c.length("supported_aspect_ratios"), keys.squares(c) + 1
    sizes = MllamaVisionModel.read(c, ratios=8 if ratios is None else ratios)
    heads, depth, deep = ("attention_heads",), ("num_global_layers",), c.int("num_global_layers", minimum=0)
    parts = {"global": keys.tower(c, heads=heads, depth=depth, indivisible="run", bias=False)} if deep else {}
    out = c.int("vision_output_dim")
    return keys.tower(
        c,
        heads=heads,
        indivisible="run",
        bias=False,
        patches=keys.patches(c),
        positions=rows,
        out=out,
        parts=parts,
    ).having(sizes)


def vision_blueprint(s: Spec[MllamaVisionModel]) -> Block:
    d, gate, tiles, rows = s.hidden, Tensor((1,)), s.own.max_num_tiles, s.positions or 0
    arrangements = s.own.ratios + 1  # one of them is none

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=mha(d, layer.attention, "o_proj"),
            mlp=mlp(d, layer.dense.width),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    def gated(layer: Layer) -> Block:
        return Block({**layer_block(layer).children, "gate_attn": gate, "gate_ffn": gate})

    tiled = block("embedding", embedding=embedding(arrangements, tiles * d), gate=gate)
    places = block(
        "embedding",
        embedding=Tensor((rows, d)),
        gate=gate,
        tile_embedding=embedding(arrangements, tiles * rows * d),
    )
    return block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        gated_positional_embedding=places,
        pre_tile_positional_embedding=tiled,
        post_tile_positional_embedding=tiled,
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        transformer=block(layers=stack(s.layers, layer_block)),
        global_transformer=block(layers=stack(s.stack("global"), gated)) if "global" in s.parts else None,
    )


PARTS = (families.Family(("mllama_vision_model",), vision_spec, vision_blueprint),)
