"""ConvBERT: half of the attention heads are convolutions with kernels made for each token (arXiv:2008.02496)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import summary
from hfcount.architectures.layers.encoders import bert_embeddings, bert_heads, dense_classifier
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("convbert",)  # transformers 5.23: modeling_convbert.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


class Convbert(Sizes):
    embedding_size: int = size("d_e", absent=768)
    conv_kernel_size: int = size("w", absent=9)
    summary_use_proj: bool = flag(absent=False)
    summary_proj_to_labels: bool = flag(absent=False)
    num_groups: int


def spec(c: Config) -> Spec[Convbert]:
    d, groups = c.int("hidden_size"), keys.dim("g", c.int("num_groups", default=1))
    kept = max(c.int("num_attention_heads") // c.int("head_ratio", default=2), 1)
    shared = keys.divides(c, "num_attention_heads", kept, "hidden_size", d)
    mixer, ffn = GQA(heads=kept, kv_heads=kept, head_dim=shared // 2), keys.dense(c, bias=True)
    for key, width in (("hidden_size", d), ("intermediate_size", ffn.width)):
        keys.divides(c, "num_groups", groups, key, width, built=True)
    crossed, rows = c.bool("add_cross_attention", default=False), c.int("max_position_embeddings")
    types = c.int("type_vocab_size")
    sizes = Convbert.read(c, num_groups=groups)
    layer = Layer(mixer=mixer, ffn=ffn, cross_attention=crossed)
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows, token_types=types)
    why = keys.ACROSS if crossed else ""
    return model.replace(causal=keys.is_causal(c, crossed), uncounted=why).having(sizes)


def blueprint(s: Spec[Convbert]) -> Block:
    d, of, width, groups = s.hidden, s.own, s.own.embedding_size, s.own.num_groups

    def projection(inputs: int, outputs: int) -> Block:
        parts = block(weight=Tensor((groups, inputs // groups, outputs // groups)), bias=Tensor((outputs,)))
        return block("mlp", dense=Linear(inputs, outputs, True) if groups == 1 else parts)

    def layer_block(layer: Layer) -> Block:
        a, kernel, wide = layer.attention, of.conv_kernel_size, layer.dense.width
        into = a.heads * a.head_dim
        projected = Linear(d, into, True)
        deep, point = block(weight=Tensor((d, 1, kernel))), block(weight=Tensor((into, d, 1)))
        projections = block(
            "attention",
            **dict.fromkeys(("query", "key", "value", "conv_out_layer"), projected),
            key_conv_attn_layer=block(bias=Tensor((into, 1)), depthwise=deep, pointwise=point),
            conv_kernel_layer=Linear(into, a.heads * kernel, True),
        )
        attention = block(
            self=projections, output=block(dense=Linear(d, d, True, "attention"), LayerNorm=layer_norm(d))
        )
        return block(
            attention=attention,
            crossattention=attention if layer.cross_attention else None,
            intermediate=projection(d, wide),
            output=altered(projection(wide, d), LayerNorm=layer_norm(d)),
        )

    wider = None if width == d else Linear(width, d, True, "embedding")
    tables, layers = bert_embeddings(s, width), stack(s.layers, layer_block)
    body = block(embeddings=tables, embeddings_project=wider, encoder=block(layer=layers))
    words = block(
        generator_predictions=block("lm_head", LayerNorm=layer_norm(width), dense=Linear(d, width, True)),
        generator_lm_head=lm_head(s, "convbert.embeddings.word_embeddings.weight", True, width),
    )
    outputs = s.labels if of.summary_proj_to_labels else d
    summed = summary(d, outputs if of.summary_use_proj else 0)
    choice = block(sequence_summary=summed, classifier=Linear(d, 1, True, "other"))
    two_layers = block(classifier=dense_classifier(s))
    more = {"masked_lm": words, "sequence_classification": two_layers, "multiple_choice": choice}
    return bert_heads(s, "convbert", body, **more)
