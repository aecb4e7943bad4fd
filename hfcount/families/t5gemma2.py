"""T5Gemma 2: Gemma 3 as an encoder that also sees, and a decoder that attends to it and itself at once."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, gqa, lm_head, rms_norm, stack, swiglu
from hfcount.parts.classic import classifier, headed
from hfcount.spec import Layer, Layers, Spec
from hfcount.tree.nodes import Block, Node, Tensor, Tied, block

MODEL_TYPES = ("t5gemma2",)  # transformers 5.23: modeling_t5gemma2.py
IGNORED = ("mm_tokens_per_image", "_sliding_window_pattern")
SPELLINGS = {r"encoder\.text_model\.": "encoder."}
REPLACES_PLACEHOLDERS = True

_HEADS = ("ForConditionalGeneration", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    def layers(part: Config) -> tuple[Layers, ...]:
        bias = part.bool("attention_bias", default=False)
        mixer = keys.attention(part, bias=bias, qk_norm=True, head_dim=256, indivisible="refused")
        return tuple(keys.uniform(Layer(mixer=mixer, ffn=keys.dense(part)), keys.layer_count(part)))

    outer, decoder = c.part("encoder"), c.part("decoder")
    inner = outer.part("text_config")
    d, words = inner.int("hidden_size"), inner.int("vocab_size")
    for key, own in (("hidden_size", d), ("vocab_size", words)):
        if decoder.int(key) != own:
            raise c.error(
                "contradiction",
                f"{key} of encoder and decoder must be the same.",
                f"decoder.{key}",
                "Correct one of them.",
            )
    parts = {
        "encoder": Spec(family=c.family, vocab=words, hidden=d, layers=layers(inner), causal=False),
        "vision": families.part(outer, "vision_config"),
    }
    windows = keys.sliding(decoder, lambda: keys.all_but_every_nth(decoder, 6), default=4096)
    whole = keys.decoder_spec(decoder, layers(decoder), whole=c, tied=True, heads=_HEADS, windows=windows, parts=parts)
    return whole.replace(uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d, seen, norm = s.hidden, s.part("vision").hidden, rms_norm(s.hidden)
    places = ("pre_self_attn", "post_self_attn", "pre_feedforward", "post_feedforward")

    def layer(one: Layer) -> Block:
        norms = {f"{place}_layernorm": norm for place in places}
        return block(self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width), **norms)

    def side(layers: tuple[Layers, ...], table: Node) -> Block:
        return block(embed_tokens=table, layers=stack(layers, layer), norm=norm)

    # One token, the end of an image, has a vector of its own.
    table = altered(embedding(s.vocab, d), eoi_embedding=Tensor((d,)))
    source = f"{'' if s.head == 'base' else 'model.'}encoder.embed_tokens.weight"
    weight = Tensor((seen, d))
    projector = block(mm_input_projection_weight=weight, mm_soft_emb_norm=rms_norm(seen))
    encoder = altered(
        side(s.stack("encoder"), table),
        vision_tower=families.tower(s, "vision"),
        multi_modal_projector=Block(projector.children, "projector", repeats=0),
    )
    end = source.removesuffix("weight") + "eoi_embedding"
    shared = (Tied(source, (s.vocab, d)), Tied(end, (d,), name="eoi_embedding"))
    decoder = side(s.layers, shared if s.tied else table)
    body = block(encoder=encoder, decoder=decoder)
    labels = block(score=block(out_proj=classifier(s)))
    words = block(lm_head=block(out_proj=lm_head(s, source)))
    heads = {"sequence_classification": labels, "token_classification": labels, "conditional_generation": words}
    return headed(s, "model", body, **heads)
