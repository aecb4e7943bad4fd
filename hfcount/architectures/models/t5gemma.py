"""T5Gemma: Gemma 2's layers as encoder and decoder (arXiv:2504.06225)."""

from typing import Any

from hfcount.architectures import keys
from hfcount.architectures.families import Family
from hfcount.architectures.layers import altered, embedding, gqa, lm_head, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import classifier
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("t5gemma",)  # transformers 5.23: modeling_t5gemma.py
IGNORED = ("vocab_size", "tie_word_embeddings")

_CLASSES = ("ForConditionalGeneration", "Model", "ForSequenceClassification", "ForTokenClassification")
_HEADS = keys.named(_CLASSES, EncoderModel="encoder")


class T5gemma(Sizes):
    """Sizes specific to T5Gemma: whether there is a decoder beside the encoder."""

    both: bool


def _layers(part: Config) -> tuple[Layers, ...]:
    bias = part.bool("attention_bias", default=False)
    mixer = keys.attention(part, bias=bias, head_dim=256, indivisible="refused")
    return tuple(keys.uniform(Layer(mixer=mixer, ffn=keys.dense(part)), keys.layer_count(part)))


def spec(c: Config) -> Spec[T5gemma]:
    first, second = c.part("encoder"), c.part("decoder")
    layers, later = _layers(first), _layers(second)
    encoder = Spec(
        family=c.family, vocab=first.int("vocab_size"), hidden=first.int("hidden_size"), layers=layers, causal=False
    )
    windows = keys.sliding(second, lambda: keys.all_but_every_nth(second, 2), default=4096)
    model = keys.decoder_spec(
        second, later, whole=c, tied=True, heads=_HEADS, windows=windows, parts={"encoder": encoder}
    )
    both = model.head != "encoder" and c.bool("is_encoder_decoder", default=True)
    sizes = T5gemma.read(c, both=both or model.head == "conditional_generation")
    return (model.replace(uncounted=keys.ACROSS) if sizes.both else model.replace(causal=False)).having(sizes)


def _layer(d: int, layer: Layer, encoder_width: int | None) -> Block:
    """A layer that attends to an encoder, if that has a width `seen`."""
    a, norm = layer.attention, rms_norm(d)
    memory = None if encoder_width is None else Linear(encoder_width, a.kv_heads * a.head_dim, a.qkv_bias)
    across = None if memory is None else altered(gqa(d, a), k_proj=memory, v_proj=memory, rotary_emb=None)
    return block(
        pre_self_attn_layernorm=norm,
        self_attn=gqa(d, a),
        post_self_attn_layernorm=norm,
        pre_cross_attn_layernorm=norm if across else None,
        cross_attn=across,
        post_cross_attn_layernorm=norm if across else None,
        pre_feedforward_layernorm=norm,
        mlp=swiglu(d, layer.dense.width),
        post_feedforward_layernorm=norm,
    )


def _side(s: Spec[Any], encoder_width: int | None = None) -> Block:
    blocks = stack(s.layers, lambda layer: _layer(s.hidden, layer, encoder_width))
    return block(embed_tokens=embedding(s.vocab, s.hidden), layers=blocks, norm=rms_norm(s.hidden))


def blueprint(s: Spec[T5gemma]) -> Block:
    first, both = s.part("encoder"), s.own.both
    body = block(encoder=_side(first), decoder=_side(s, first.hidden) if both else None)
    if s.head in ("base", "encoder"):
        return body
    if s.head == "conditional_generation":
        return block(model=body, lm_head=block(out_proj=lm_head(s, "model.decoder.embed_tokens.weight")))
    return block(model=body, score=block(out_proj=classifier(s, s.hidden if both else first.hidden)))


class Side(Sizes):
    """Sizes specific to a side: the width of the encoder that it attends to, if it is the decoder."""

    seen: int | None


def side_spec(c: Config) -> Spec[Side]:
    """T5Gemma's encoder or decoder alone."""
    heads = keys.named(Encoder="encoder", Decoder="base")
    if c.bool("is_decoder", default=False):  # what it is if the config names no class
        heads = dict(reversed(heads.items()))
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 2), default=4096)
    side = keys.decoder_spec(c, _layers(c), tied=True, heads=heads, windows=windows)
    if side.head == "encoder":
        return side.replace(causal=False).having(Side.read(c, seen=None))
    vision_width = keys.dim("d_e", c.int("cross_attention_hidden_size"))
    return side.replace(uncounted=keys.ACROSS).having(Side.read(c, seen=vision_width))


def side_blueprint(s: Spec[Side]) -> Block:
    return _side(s, s.own.seen)


PARTS = (
    Family(
        ("t5_gemma_module",),
        side_spec,
        side_blueprint,
        classes=("T5GemmaEncoder", "T5GemmaDecoder"),
    ),
)
