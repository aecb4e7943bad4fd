"""Phi-1, Phi-1.5 and Phi-2: attention and feed-forward side by side behind one norm (arXiv:2309.05463)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, layer_norm, mlp, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("phi",)  # transformers 5.23: modeling_phi.py


def spec(c: Config) -> Spec:
    norms = c.bool("qk_layernorm", default=False)
    mixer = keys.attention(c, bias=True, qk_norm=norms)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=layer_norm(d),
            self_attn=gqa(d, layer.attention, "dense", ("q_layernorm", "k_layernorm"), layer_norm),
            mlp=mlp(d, layer.dense.width),
        )

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        final_layernorm=layer_norm(d),
    )
    return with_head(s, body, bias=True)
