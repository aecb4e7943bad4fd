"""ModernBERT: rotary positions, gated networks, no norm before the first attention (arXiv:2412.13663)."""

from hfcount.architectures import keys
from hfcount.architectures.components.modernbert import ModernBert, ModernBertLayer, modernbert_layers
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier, fused_attention, headed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("modernbert",)  # transformers 5.23: modeling_modernbert.py
IGNORED = ("global_attn_every_n_layers", "local_attention", "repad_logits_with_grad", "sparse_pred_ignore_index")

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


def spec(c: Config) -> Spec[ModernBert]:
    layers, sizes = modernbert_layers(c), ModernBert.read(c)
    model = keys.decoder_spec(c, layers, hidden=c.int("hidden_size"), tied=True, heads=_HEADS)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[ModernBert]) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden, s.own.norm_bias)

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        return block(
            attn_norm=norm if layer.sizes(ModernBertLayer).attn_norm else None,
            attn=fused_attention(d, layer.attention, "Wqkv", "Wo"),
            mlp_norm=norm,
            mlp=block("mlp", Wi=Linear(d, 2 * width, bias), Wo=Linear(width, d, bias)),
        )

    embeddings = block(tok_embeddings=embedding(s.vocab, d), norm=norm)
    body = block(embeddings=embeddings, layers=stack(s.layers, layer_block), final_norm=norm)
    dense, table = Linear(d, d, s.own.classifier_bias), "model.embeddings.tok_embeddings.weight"
    words = lm_head(s, table, s.own.decoder_bias)
    labels = block(head=block("other", dense=dense, norm=norm), classifier=classifier(s))
    classes = ("sequence_classification", "token_classification", "question_answering")
    choice = Block({**labels.children, "classifier": Linear(d, 1, True, "other")})
    causal = block(head=block("lm_head", dense=dense, norm=norm), decoder=words)
    return headed(s, "model", body, masked_lm=causal, multiple_choice=choice, **dict.fromkeys(classes, labels))
