"""RWKV-7 as flash-linear-attention names it: a state per head that is corrected by a delta (arXiv:2503.14456)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack, with_head
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import RWKV, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("rwkv7",)  # rwkv7.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("attn", "attn_mode", "fuse_norm", "norm_bias", "norm_first", "num_heads", "value_dim")


class Rwkv7(Sizes):
    """The ranks of what tells decays, values, rates and gates."""

    decay_low_rank_dim: int = size("r_w")
    a_low_rank_dim: int = size("r_a")
    v_low_rank_dim: int = size("r_v")
    gate_low_rank_dim: int = size("r_g")


def spec(c: Config) -> Spec[Rwkv7]:
    hidden, width, count = c.int("hidden_size"), c.int("head_dim"), keys.layer_count(c)
    keys.divides(c, "head_dim", width, "hidden_size", hidden)
    layer = Layer(mixer=RWKV(width=hidden, head_dim=width), ffn=Dense(width=c.int("intermediate_size")))
    first, rest = Indices.below(1), Indices.span(1, count)
    layers = keys.split((first, lambda: layer.replace(first=True)), (rest, lambda: layer))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(Rwkv7.read(c))


def blueprint(s: Spec[Rwkv7]) -> Block:
    d, of = s.hidden, s.own
    square = Linear(d, d)

    def low_rank(rank: int, bias: bool = True) -> Block:
        return block(lora=Block({"0": Linear(d, rank), "2": Linear(rank, d, bias)}))

    def time_mix(m: RWKV, first: bool) -> Block:
        mix, each = Tensor((1, 1, d)), m.head_dim or 1
        return block(
            "linear_attention",
            x_r=mix,
            x_w=mix,
            x_k=mix,
            x_v=mix,
            x_a=mix,
            x_g=mix,
            k_k=Tensor((d,)),
            k_a=Tensor((d,)),
            r_k=Tensor((d // each, each)),
            r_proj=square,
            k_proj=square,
            v_proj=square,
            o_proj=square,
            w_lora=low_rank(of.decay_low_rank_dim),
            v_lora=None if first else low_rank(of.v_low_rank_dim),
            a_lora=low_rank(of.a_low_rank_dim),
            g_lora=low_rank(of.gate_low_rank_dim, bias=False),
            g_norm=layer_norm(d),
        )

    def layer_block(layer: Layer) -> Block:
        mixer, width = layer.mixer, layer.dense.width
        assert isinstance(mixer, RWKV)
        return block(
            pre_norm=layer_norm(d) if layer.first else None,
            attn_norm=layer_norm(d),
            attn=time_mix(mixer, layer.first),
            ffn_norm=layer_norm(d),
            ffn=block("mlp", x_k=Tensor((d,)), key=Linear(d, width), value=Linear(width, d)),
        )

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=layer_norm(d))
    return with_head(s, body, table="embeddings")
