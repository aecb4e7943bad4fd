"""T5Gemma: Gemma 2's layers as encoder and decoder (arXiv:2504.06225)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, gqa, lm_head, rms_norm, stack, swiglu
from hfcount.parts.classic import classifier
from hfcount.spec import Layer, Layers, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("t5gemma",)  # transformers 5.23: modeling_t5gemma.py
IGNORED = ("vocab_size", "tie_word_embeddings")

_CLASSES = ("ForConditionalGeneration", "Model", "ForSequenceClassification", "ForTokenClassification")
_HEADS = keys.named(_CLASSES, EncoderModel="encoder")


class T5gemma(Sizes):
    """What T5Gemma alone has: whether there is a decoder beside the encoder."""

    both: bool


def spec(c: Config) -> Spec[T5gemma]:
    def side(name: str) -> tuple[Config, Layer]:
        part = c.part(name)
        bias = part.bool("attention_bias", default=False)
        mixer = keys.attention(part, bias=bias, head_dim=256, indivisible="refused")
        return part, Layer(mixer=mixer, ffn=keys.dense(part))

    (first, one), (second, other) = side("encoder"), side("decoder")
    layers = tuple(keys.uniform(one, keys.layer_count(first)))
    encoder = Spec(
        family=c.family, vocab=first.int("vocab_size"), hidden=first.int("hidden_size"), layers=layers, causal=False
    )
    windows = keys.sliding(second, lambda: keys.all_but_every_nth(second, 2), default=4096)
    later = keys.uniform(other, keys.layer_count(second))
    whole = keys.decoder_spec(
        second, later, whole=c, tied=True, heads=_HEADS, windows=windows, parts={"encoder": encoder}
    )
    both = whole.head != "encoder" and c.bool("is_encoder_decoder", default=True)
    own = T5gemma.read(c, both=both or whole.head == "conditional_generation")
    return (whole.replace(uncounted=keys.ACROSS) if own.both else whole.replace(causal=False)).having(own)


def blueprint(s: Spec[T5gemma]) -> Block:
    first = s.part("encoder")

    def layer(d: int, one: Layer, crossed: bool) -> Block:
        a, norm = one.attention, rms_norm(d)
        memory = Linear(first.hidden, a.kv_heads * a.head_dim, a.qkv_bias)
        across = altered(gqa(d, a), k_proj=memory, v_proj=memory, rotary_emb=None)
        return block(
            pre_self_attn_layernorm=norm,
            self_attn=gqa(d, a),
            post_self_attn_layernorm=norm,
            pre_cross_attn_layernorm=norm if crossed else None,
            cross_attn=across if crossed else None,
            post_cross_attn_layernorm=norm if crossed else None,
            pre_feedforward_layernorm=norm,
            mlp=swiglu(d, one.dense.width),
            post_feedforward_layernorm=norm,
        )

    def side(words: int, d: int, layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda one: layer(d, one, crossed))
        return block(embed_tokens=embedding(words, d), layers=blocks, norm=rms_norm(d))

    encoder, both = side(first.vocab, first.hidden, first.layers, False), s.own.both
    body = block(encoder=encoder, decoder=side(s.vocab, s.hidden, s.layers, True) if both else None)
    if s.head in ("base", "encoder"):
        return body
    if s.head == "conditional_generation":
        return block(model=body, lm_head=block(out_proj=lm_head(s, "model.decoder.embed_tokens.weight")))
    return block(model=body, score=block(out_proj=classifier(s, s.hidden if both else first.hidden)))
