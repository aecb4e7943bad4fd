"""InternLM 2: Llama with fused attention and other tensor names (arXiv:2403.17297)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, inv_freq, lm_head, rms_norm, stack
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("internlm2",)  # modeling_internlm2.py of internlm/internlm2-7b and internlm/internlm2-7b-reward


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("bias", default=True), indivisible="refused", derived=True)
    heads = keys.named(("ForCausalLM", "Model", "ForSequenceClassification"), ForRewardModel="reward")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        attention = block(
            "attention",
            wqkv=fused_qkv(d, a),
            wo=Linear(a.heads * a.head_dim, d, a.out_bias),
            rotary_emb=inv_freq(a.head_dim),
        )
        return block(
            attention=attention,
            feed_forward=block("mlp", w1=Linear(d, width), w3=Linear(d, width), w2=Linear(width, d)),
            attention_norm=rms_norm(d),
            ffn_norm=rms_norm(d),
        )

    body = block(tok_embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if s.head == "base":
        return body
    if s.head == "sequence_classification":
        return block(model=body, score=Linear(d, s.labels, component="other"))
    if s.head == "reward":
        return block(model=body, v_head=Linear(d, 1, component="other"))
    return block(model=body, output=lm_head(s, "model.tok_embeddings.weight"))
