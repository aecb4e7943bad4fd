"""ModernBERT as a decoder, Ettin: the first attention has no norm before it (arXiv:2507.11412)."""

from hfcount.architectures import keys
from hfcount.architectures.components.modernbert import ModernBert, ModernBertLayer, modernbert_layers
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier, headed, mha
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("modernbert-decoder",)  # transformers 5.23: modeling_modernbert_decoder.py

_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification")


def spec(c: Config) -> Spec[ModernBert]:
    layers, sizes = modernbert_layers(c), ModernBert.read(c)

    def near() -> Indices:
        return keys.all_but_every_nth(c, 3, key="global_attn_every_n_layers", first=0)

    model = keys.sliding(c, near, default=128, key="local_attention")
    # Half of it is behind a token, which the encoder of this make sees too.
    windows = tuple(window.replace(extent=max(1, int(window.extent) // 2)) for window in model)
    d = c.int("hidden_size")
    return keys.decoder_spec(c, layers, hidden=d, tied=True, heads=_HEADS, windows=windows).having(sizes)


def blueprint(s: Spec[ModernBert]) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden, s.own.norm_bias)

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        return block(
            attn_norm=norm if layer.sizes(ModernBertLayer).attn_norm else None,
            attn=mha(d, layer.attention, out="Wo"),
            mlp_norm=norm,
            mlp=block("mlp", Wi=Linear(d, 2 * width, bias), Wo=Linear(width, d, bias)),
        )

    embeddings = block(tok_embeddings=embedding(s.vocab, d), norm=norm)
    body = block(embeddings=embeddings, layers=stack(s.layers, layer_block), final_norm=norm)
    biased, table = s.own.classifier_bias, "model.embeddings.tok_embeddings.weight"
    words = lm_head(s, table, s.own.decoder_bias)
    causal = block(lm_head=block("lm_head", dense=Linear(d, d, biased), norm=norm), decoder=words)
    labels = block(head=block("other", dense=Linear(d, d, biased), norm=norm), classifier=classifier(s, bias=biased))
    return headed(s, "model", body, causal_lm=causal, sequence_classification=labels)
