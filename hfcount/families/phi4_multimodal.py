"""Phi-4-multimodal: Phi-4-mini with vision and audio towers inside its embedding (arXiv:2503.01743)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, fused_qkv, fused_swiglu, inv_freq, pre_norm, with_head
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Undescribed, block

MODEL_TYPES = ("phi4_multimodal",)  # transformers 5.23: modeling_phi4_multimodal.py


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), windows=keys.sliding_everywhere(c))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.attention
        return pre_norm(
            d,
            self_attn=block(
                "attention",
                qkv_proj=fused_qkv(d, a),
                o_proj=Linear(a.heads * a.head_dim, d),
                rotary_emb=inv_freq(a.head_dim),
            ),
            mlp=fused_swiglu(d, one.dense.width),
        )

    towers = Undescribed("the towers for images and sound are not described")
    return with_head(s, altered(base(s, layer), embed_tokens_extend=towers))
