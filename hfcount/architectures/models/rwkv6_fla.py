"""RWKV-6 as flash-linear-attention names it (arXiv:2404.05892)."""

from hfcount.architectures import keys
from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import Grouped, attention
from hfcount.architectures.layers import embedding, layer_norm, stack, with_head
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# models/rwkv6/modeling_rwkv6.py of fla-org/flash-linear-attention 0.6.0; its configs are of type rwkv6
MODEL_TYPES = ("rwkv6_fla",)
CLASSES = ("RWKV6ForCausalLM", "RWKV6Model")
IGNORED = flash_linear.IGNORED

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 4,
    "expand_k": 0.5,
    "expand_v": 1.0,
    "hidden_ratio": 3.5,
}
_MIXED = 5


class Rwkv6(Sizes):
    """The ranks of what mixes inputs and tells decays, and what norms there are."""

    proj_low_rank_dim: int = size("r_p", absent=32)
    gate_low_rank_dim: int = size("r_g", absent=64)
    norm_first: bool = flag(absent=True)
    norm_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[Rwkv6]:
    c.assuming(_ABSENT)
    hidden, count = c.int("hidden_size"), keys.layer_count(c)
    some, windows = flash_linear.hybrid(c, hidden, count)
    rest = Indices.below(count).difference(*(part.indices for part in some))
    kinds = [*some, *keys.split((rest, lambda: Layer(own=flash_linear.grouped(c, convolved=False, sharing=False))))]
    ffn = Dense(width=flash_linear.plain_width(c, hidden, 3.5))
    layers = [apart for part in kinds for apart in flash_linear.first_apart(part, ffn)]
    model = keys.decoder_spec(
        c, layers, heads=flash_linear.HEADS, windows=tuple(windows), uncounted=flash_linear.STATES
    )
    return model.having(Rwkv6.read(c))


def blueprint(s: Spec[Rwkv6]) -> Block:
    d, of = s.hidden, s.own
    norm, mu = layer_norm(d, of.norm_bias), Tensor((d,))

    def lerp(wide: int) -> Block:
        return block(linear=Linear(d, wide), mu=mu)

    def time_mix(a: Grouped) -> Block:
        queries, values, rank = a.heads * a.key_dim, a.heads * a.value_dim, _MIXED * of.proj_low_rank_dim
        low = of.gate_low_rank_dim
        decay = block(lora=Block({"0": Linear(d, low), "2": Linear(low, queries, True)}))
        return block(
            "linear_attention",
            x_proj=Block({"0": lerp(rank), "2": Linear(rank, d)}),
            x_bias=Tensor((_MIXED, d)),
            r_proj=block(linear=Linear(d, queries)),
            w_proj=block(linear=decay),
            k_proj=block(linear=Linear(d, queries)),
            v_proj=block(linear=Linear(d, values)),
            g_proj=block(linear=Linear(d, values)),
            bonus=Tensor((a.heads, a.key_dim)),
            g_norm=layer_norm(values),
            o_proj=Linear(values, d),
        )

    def layer_block(layer: Layer) -> Block:
        width, mixer = layer.dense.width, layer.mixer
        return block(
            pre_norm=norm if layer.first and of.norm_first else None,
            attn_norm=norm,
            attn=attention(d, mixer) if isinstance(mixer, GQA) else time_mix(layer.sizes(Grouped)),
            ffn_norm=norm,
            ffn=block("mlp", key=lerp(width), value=Linear(width, d), receptance=lerp(d)),
        )

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=norm)
    return with_head(s, body, table="embeddings")
