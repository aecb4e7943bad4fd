"""MiniMax-Text-01: Mixtral with lightning attention in the place of most softmax attention (arXiv:2501.08313)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, numbered_swiglu, pre_norm
from hfcount.architectures.layers.conversions import BLOCK_SPARSE, W_EXPERTS
from hfcount.architectures.layers.norms import rms_norm
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Lightning, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("minimax",)  # transformers 5.23: modeling_minimax.py
SPELLINGS, MERGED = BLOCK_SPARSE, W_EXPERTS


class Minimax(Sizes):
    block_size: int


def spec(c: Config) -> Spec[Minimax]:
    full, size = keys.attention(c), c.int("block_size", default=256)
    linear = Lightning(heads=full.heads, head_dim=full.head_dim)
    alternate = Indices.span(0, keys.layer_count(c), 2)
    mixers = keys.mixed(c, full, linear, keys.kinds(c), alternate, "full_attention")
    ffn = keys.moe(c, "intermediate_size")
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=ffn), keys.layer_count(c)))
    return keys.decoder_spec(c, layers, windows=keys.sliding_everywhere(c)).having(Minimax.read(c, block_size=size))


def blueprint(s: Spec[Minimax]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mixer, size = layer.mixer, s.own.block_size
        return pre_norm(
            d,
            self_attn=_lightning(d, mixer, size) if isinstance(mixer, Lightning) else gqa(d, layer.attention),
            block_sparse_moe=moe(d, layer.moe, numbered_swiglu(d, layer.moe.width, "experts")),
        )

    return decoder(s, layer_block)


def _lightning(d: int, a: Lightning, size: int) -> Block:
    """Lightning attention (arXiv:2501.08313) in blocks of `size` tokens.

    Tensors, with v = l·l_d: qkv_proj (3·v, d), output_gate (v, d), norm (v), out_proj (d, v). Buffers, the decays
    within a block: slope_rate (l, 1, 1), query_decay and key_decay (l, size, 1), diagonal_decay (1, l, size, size).
    """
    values = a.heads * a.head_dim
    return block(
        "linear_attention",
        qkv_proj=Linear(d, 3 * values),
        output_gate=Linear(d, values),
        norm=rms_norm(values),
        out_proj=Linear(values, d),
        slope_rate=buffer(a.heads, 1, 1),
        query_decay=buffer(a.heads, size, 1),
        key_decay=buffer(a.heads, size, 1),
        diagonal_decay=buffer(1, a.heads, size, size),
    )
