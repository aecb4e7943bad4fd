"""StableLM 2 and 3B: layer norms, optionally one per head (arXiv:2402.17834)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, decoder, gqa, layer_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("stablelm",)  # transformers 5.23: modeling_stablelm.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("use_qkv_bias", default=False), derived=True)
    switches = {key: int(c.bool(key, default=False)) for key in ("qk_layernorm", "use_parallel_residual")}
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c), traits=switches))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, normed, parallel = one.attention, one.traits["qk_layernorm"], one.traits["use_parallel_residual"]

        def per_head(heads: int) -> Block:
            return block(norms=Repeat(Indices.below(heads), block(weight=Tensor((a.head_dim,)))))

        return block(
            input_layernorm=layer_norm(d),
            self_attn=altered(
                gqa(d, a),
                o_proj=Linear(d, d),
                q_layernorm=per_head(a.heads) if normed else None,
                k_layernorm=per_head(a.kv_heads) if normed else None,
            ),
            post_attention_layernorm=None if parallel else layer_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return decoder(s, layer, norm=layer_norm(d))
