"""StableLM 2 and 3B: layer norms, optionally one per head (arXiv:2402.17834)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, layer_norm, swiglu
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("stablelm",)  # transformers 5.23: modeling_stablelm.py


class Stablelm(Sizes):
    """Whether each head has a norm, and whether attention and network stand side by side."""

    qk_layernorm: bool = flag(absent=False)
    use_parallel_residual: bool = flag(absent=False)


def spec(c: Config) -> Spec[Stablelm]:
    mixer = keys.attention(c, qkv_bias=c.bool("use_qkv_bias", default=False), derived=True)
    sizes = Stablelm.read(c)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c))).having(sizes)


def blueprint(s: Spec[Stablelm]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, normed, parallel = layer.attention, s.own.qk_layernorm, s.own.use_parallel_residual

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
            mlp=swiglu(d, layer.dense.width),
        )

    return decoder(s, layer_block, norm=layer_norm(d))
