"""CLVP's encoders of texts and of speech tokens, with gated networks (arXiv:2305.07243)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, rms_norm, stack
from hfcount.parts.classic import mha
from hfcount.spec import Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("clvp_encoder",)  # transformers 5.23: modeling_clvp.py
IGNORED = ("summary_use_proj", "summary_proj_to_labels")

_LEAST = 32  # rotary elements of a head


class ClvpEncoder(Sizes):
    """What this architecture alone has."""

    waves: int


def spec(c: Config) -> Spec[ClvpEncoder]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    bias, out = c.bool("use_attention_bias", default=False), c.int("projection_dim")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    share = out // (2 * heads)
    rotary = c.bool("use_rotary_embedding", default=True)
    waves = keys.dim("w", max(share, _LEAST)) if rotary else 0
    vocab = c.int("vocab_size")
    return keys.encoding(c, layers, hidden=d, vocab=vocab, out=out).having(ClvpEncoder.read(c, waves=waves))


def blueprint(s: Spec[ClvpEncoder]) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        wide = one.dense.width
        network = block("mlp", fc1=block(proj=Linear(d, 2 * wide, True)), fc2=Linear(wide, d, True))
        return block(
            self_attn=mha(d, one.attention),
            mlp=network,
            input_rmsnorm=rms_norm(d),
            post_attention_rmsnorm=rms_norm(d),
        )

    waves = s.own.waves
    return block(
        token_embedding=embedding(s.vocab, d),
        rotary_pos_emb=block(inv_freq=buffer((waves + 1) // 2)) if waves else None,
        layers=stack(s.layers, layer),
        final_layer_norm=layer_norm(d),
        projection=Linear(d, s.output, component="projector"),
    )
