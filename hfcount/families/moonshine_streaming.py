"""Moonshine Streaming: Moonshine's decoder over an encoder that hears as the speaker speaks (model card)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, pre_norm, stack
from hfcount.parts.classic import mha
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("moonshine_streaming",)  # transformers 5.23: modeling_moonshine_streaming.py
IGNORED = ("pad_head_dim_to_multiple_of",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), out_bias=False)
    rows, parts = c.int("max_position_embeddings"), {"encoder": families.part(c, "encoder_config")}
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, positions=rows, parts=parts, uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d, encoder = s.hidden, s.parts["encoder"]

    def norm(width: int) -> Block:
        return layer_norm(width, bias=False)

    def layer(one: Layer) -> Block:
        attention, width = mha(d, one.attention, "o_proj"), one.dense.width
        gated = block("mlp", fc1=Linear(d, 2 * width, True), fc2=Linear(width, d, True))
        usual = pre_norm(d, norm, self_attn=attention, mlp=gated).children
        return Block({**usual, "encoder_attn": attention, "final_layernorm": norm(d)})

    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer),
        norm=norm(d),
        pos_emb=embedding(s.positions or 0, encoder.hidden),
        proj=Linear(encoder.hidden, d, component="projector") if encoder.hidden != d else None,
    )
    body = block(encoder=families.tree(encoder), decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))
