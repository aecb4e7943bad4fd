"""Funnel: blocks of layers over ever fewer tokens, and a decoder that brings them back (arXiv:2006.03236)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.encoders import bert_heads
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("funnel",)  # transformers 5.23: modeling_funnel.py
IGNORED = ("block_repeats", "num_blocks", "num_hidden_layers", "separate_cls", "truncate_seq", "pool_q_only")

_CLASSES = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]
_HEADS = keys.named((*_CLASSES, "ForPreTraining"), BaseModel="encoder")


def spec(c: Config) -> Spec:
    d, heads = c.int("d_model", "hidden_size"), c.int("n_head", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_head", default=64), products_per_score=2)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("d_inner"), bias=True))
    sizes = c.ints("block_sizes", default=(4, 4, 4))
    blocks = [Layers(indices=Indices.below(size), layer=layer) for size in sizes]
    behind = keys.uniform(layer, c.int("num_decoder_layers", default=2, maximum=MAX_LAYERS))
    parts = {"decoder": Spec(family=c.family, hidden=d, layers=tuple(behind), causal=False)}
    model = keys.decoder_spec(c, blocks, heads=_HEADS, tied=True, hidden=d, layer_count=None, parts=parts)
    return model.replace(causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        heads, width = layer.attention.heads, layer.attention.head_dim
        inner = heads * width
        attention = block(
            "attention",
            **{name: Tensor((heads, width)) for name in ("r_w_bias", "r_r_bias", "r_s_bias")},
            r_kernel=Tensor((d, heads, width)),
            seg_embed=Tensor((2, heads, width)),
            q_head=Linear(d, inner),
            k_head=Linear(d, inner, True),
            v_head=Linear(d, inner, True),
            post_proj=Linear(inner, d, True),
            layer_norm=layer_norm(d),
        )
        ffn = mlp(d, layer.dense.width, up="linear_1", down="linear_2")
        return block(attention=attention, ffn=altered(ffn, layer_norm=layer_norm(d)))

    decodes = s.head not in ("encoder", "sequence_classification", "multiple_choice")
    blocks = Block({str(number): stack((part,), layer_block) for number, part in enumerate(s.layers)})
    body = block(
        embeddings=block(word_embeddings=embedding(s.vocab, d), layer_norm=layer_norm(d)),
        encoder=block(blocks=blocks),
        decoder=block(layers=stack(s.stack("decoder"), layer_block)) if decodes else None,
    )
    if s.head == "encoder":
        return body

    def over(outputs: int, first: str, second: str) -> Block:
        return Block({first: Linear(d, d, True), second: Linear(d, outputs, True)}, "other")

    hidden = ("linear_hidden", "linear_out")
    return bert_heads(
        s,
        "funnel",
        body,
        masked_lm=block(lm_head=lm_head(s, "funnel.embeddings.word_embeddings.weight", True)),
        pretraining=block(discriminator_predictions=over(1, "dense", "dense_prediction")),
        sequence_classification=block(classifier=over(s.labels, *hidden)),
        multiple_choice=block(classifier=over(1, *hidden)),
    )
