"""RWKV-7 as flash-linear-attention names it: a state per head that is corrected by a delta (arXiv:2503.14456)."""

from hfcount.architectures import keys
from hfcount.architectures.components import flash_linear
from hfcount.architectures.layers import embedding, layer_norm, stack, with_head
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import GQA, RWKV, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# rwkv7.py of ml-explore/mlx-lm 0.32.2; models/rwkv7/modeling_rwkv7.py of fla-org/flash-linear-attention 0.6.0
MODEL_TYPES = ("rwkv7",)
CLASSES = ("RWKV7ForCausalLM", "RWKV7Model")
IGNORED = flash_linear.IGNORED

_ABSENT = {"vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 24, "head_dim": 64, "hidden_ratio": 4}
_RANKS = {"decay_low_rank_dim": 64, "gate_low_rank_dim": 128, "a_low_rank_dim": 64, "v_low_rank_dim": 16}
_MULTIPLE, _USUAL_HEAD = 32, 64


def _rank(symbol: str, key: str, factor: float, *, of_heads: bool = True) -> int:
    """A rank that follows from the width, and mostly from that of a head, where its key is null."""

    def read(c: Config) -> int:
        given = c.int(key, default=None if c.has(key) else _RANKS[key])
        if given is not None:
            return keys.dim(symbol, given)
        d, heads = c.int("hidden_size"), _head(c) / _USUAL_HEAD if of_heads else 1
        near = max(_MULTIPLE, int(round(factor * int(d) ** 0.5 * heads / _MULTIPLE) * _MULTIPLE))
        return keys.derived_dim(c, symbol, near, f"{factor} · √{{hidden_size}}, in steps of {_MULTIPLE}")

    return derived(read)


class Rwkv7(Sizes):
    """The ranks of what tells decays, values, rates and gates, and what norms there are."""

    decay: int = _rank("r_w", "decay_low_rank_dim", 2.5)
    rate: int = _rank("r_a", "a_low_rank_dim", 2.5)
    value: int = _rank("r_v", "v_low_rank_dim", 1.7)
    gate: int = _rank("r_g", "gate_low_rank_dim", 5, of_heads=False)
    norm_first: bool = flag(absent=True)
    norm_bias: bool = flag(absent=True)


def _head(c: Config) -> int:
    """The elements of a head, which divide the width."""
    hidden, each = c.int("hidden_size"), None if c.is_null("head_dim") else c.int("head_dim")
    if each is None:
        return keys.divides(c, "num_heads", c.int("num_heads"), "hidden_size", hidden)
    c.without_effect("num_heads")
    keys.divides(c, "head_dim", each, "hidden_size", hidden)
    return each


def spec(c: Config) -> Spec[Rwkv7]:
    c.assuming(_ABSENT)
    hidden, count, width = c.int("hidden_size"), keys.layer_count(c), _head(c)
    ffn = Dense(width=flash_linear.plain_width(c, hidden, 4))
    some, windows = flash_linear.hybrid(c, hidden, count)
    rest = Indices.below(count).difference(*(part.indices for part in some))
    _values(c, hidden)
    own = Layer(mixer=RWKV(width=hidden, head_dim=width))
    kinds = [*some, *keys.split((rest, lambda: own))]
    layers = [apart for part in kinds for apart in flash_linear.first_apart(part, ffn)]
    sizes = Rwkv7.read(c)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), windows=tuple(windows)).having(sizes)


def _values(c: Config, hidden: int) -> None:
    """Refuses values of other widths, which the library's configs know, and its layers do not."""
    if any(value != hidden for value in c.ints("value_dim", alone=True)):
        text = f"value_dim differs from hidden_size, which is {hidden:,}: no model is built with that."
        raise c.error("contradiction", text, "value_dim", "Correct one of them.")


def blueprint(s: Spec[Rwkv7]) -> Block:
    d, of = s.hidden, s.own
    square, norm = Linear(d, d), layer_norm(d, of.norm_bias)

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
            w_lora=low_rank(of.decay),
            v_lora=None if first else low_rank(of.value),
            a_lora=low_rank(of.rate),
            g_lora=low_rank(of.gate, bias=False),
            g_norm=layer_norm(d),
        )

    def layer_block(layer: Layer) -> Block:
        mixer, width = layer.mixer, layer.dense.width
        if isinstance(mixer, GQA):
            attention = flash_linear.attention(d, mixer)
        else:
            assert isinstance(mixer, RWKV)
            attention = time_mix(mixer, layer.first)
        return block(
            pre_norm=norm if layer.first and of.norm_first else None,
            attn_norm=norm,
            attn=attention,
            ffn_norm=norm,
            ffn=block("mlp", x_k=Tensor((d,)), key=Linear(d, width), value=Linear(width, d)),
        )

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=norm)
    return with_head(s, body, table="embeddings")
