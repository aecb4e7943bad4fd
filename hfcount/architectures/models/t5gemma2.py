"""T5Gemma 2: Gemma 3 as an encoder that also sees, and a decoder that attends to it and itself at once."""

from hfcount.architectures import families, keys
from hfcount.architectures.families import Family
from hfcount.architectures.layers import altered, embedding, gqa, lm_head, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.nodes import Block, Node, Tensor, Tied, block

MODEL_TYPES = ("t5gemma2",)  # transformers 5.23: modeling_t5gemma2.py
IGNORED = ("mm_tokens_per_image", "_sliding_window_pattern")
SPELLINGS = {r"encoder\.text_model\.": "encoder."}
REPLACES_PLACEHOLDERS = True

_HEADS = ("ForConditionalGeneration", "Model", "ForSequenceClassification", "ForTokenClassification")


def _layers(part: Config) -> tuple[Layers, ...]:
    bias = part.bool("attention_bias", default=False)
    mixer = keys.attention(part, bias=bias, qk_norm=True, head_dim=256, indivisible="refused")
    return tuple(keys.uniform(Layer(mixer=mixer, ffn=keys.dense(part)), keys.layer_count(part)))


def spec(c: Config) -> Spec:
    outer, decoder = c.part("encoder"), c.part("decoder")
    inner = outer.part("text_config")
    d, words = inner.int("hidden_size"), inner.int("vocab_size")
    for key, size in (("hidden_size", d), ("vocab_size", words)):
        if decoder.int(key) != size:
            raise c.error(
                "contradiction",
                f"{key} of encoder and decoder must be the same.",
                f"decoder.{key}",
                "Correct one of them.",
            )
    parts = {
        "encoder": Spec(family=c.family, vocab=words, hidden=d, layers=_layers(inner), causal=False),
        "vision": families.part(outer, "vision_config"),
    }
    windows = keys.sliding(decoder, lambda: keys.all_but_every_nth(decoder, 6), default=4096)
    model = keys.decoder_spec(decoder, _layers(decoder), whole=c, tied=True, heads=_HEADS, windows=windows, parts=parts)
    return model.replace(uncounted=keys.ACROSS)


def _table(s: Spec) -> Block:
    """The embedding, where one token, the end of an image, has a vector of its own."""
    return altered(embedding(s.vocab, s.hidden), eoi_embedding=Tensor((s.hidden,)))


def _side(d: int, layers: tuple[Layers, ...], table: Node) -> Block:
    norm, places = rms_norm(d), ("pre_self_attn", "post_self_attn", "pre_feedforward", "post_feedforward")

    def layer_block(layer: Layer) -> Block:
        norms = {f"{place}_layernorm": norm for place in places}
        return block(self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width), **norms)

    return block(embed_tokens=table, layers=stack(layers, layer_block), norm=norm)


def _encoder(s: Spec, layers: tuple[Layers, ...]) -> Block:
    """The text encoder of a model that also sees, as it is saved: without a name of its own."""
    vision_width = s.part("vision").hidden
    projector = block(
        mm_input_projection_weight=Tensor((vision_width, s.hidden)), mm_soft_emb_norm=rms_norm(vision_width)
    )
    return altered(
        _side(s.hidden, layers, _table(s)),
        vision_tower=families.tower(s, "vision"),
        multi_modal_projector=Block(projector.children, "projector", repeats=0),
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden
    source = f"{'' if s.head == 'base' else 'model.'}encoder.embed_tokens.weight"
    end = source.removesuffix("weight") + "eoi_embedding"
    shared = (Tied(source, (s.vocab, d)), Tied(end, (d,), name="eoi_embedding"))
    body = block(encoder=_encoder(s, s.stack("encoder")), decoder=_side(d, s.layers, shared if s.tied else _table(s)))
    labels = block(score=block(out_proj=classifier(s)))
    words = block(lm_head=block(out_proj=lm_head(s, source)))
    heads = {"sequence_classification": labels, "token_classification": labels, "conditional_generation": words}
    return headed(s, "model", body, **heads)


def text_spec(c: Config) -> Spec:
    """T5Gemma 2's text encoder alone: Gemma 3's layers, seeing both ways."""
    return keys.decoder_spec(c, _layers(c), tied=True, heads=keys.named(Encoder="base")).replace(causal=False)


def text_blueprint(s: Spec) -> Block:
    return _side(s.hidden, s.layers, _table(s))


def encoder_spec(c: Config) -> Spec:
    """T5Gemma 2's encoder alone: its text encoder, and SigLIP before it."""
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    return keys.composite(c, text, {"vision": vision}, tied=True, heads=keys.named(Encoder="base"))


def encoder_blueprint(s: Spec) -> Block:
    return _encoder(s, s.layers)


def decoder_spec(c: Config) -> Spec:
    """T5Gemma 2's decoder alone, which attends to an encoder by the weights that it attends to itself by."""
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6), default=4096)
    alone = keys.decoder_spec(c, _layers(c), tied=True, heads=keys.named(Decoder="base"), windows=windows)
    return alone.replace(uncounted=keys.ACROSS)


# transformers 5.23 reads the words of an encoder under either name, alone as within the whole.
PARTS = (
    Family(("t5gemma2_text",), text_spec, text_blueprint),
    Family(
        ("t5gemma2_encoder",),
        encoder_spec,
        encoder_blueprint,
        ignored=("mm_tokens_per_image",),
        spellings={r"^text_model\.": ""},
        replaces_placeholders=True,
    ),
    Family(("t5gemma2_decoder",), decoder_spec, text_blueprint),
)
