"""The LSTM with a matrix for its memory."""

from hfcount.parts.norms import layer_norm
from hfcount.spec import MLSTM
from hfcount.tree.nodes import Block, Linear, block


def mlstm(d: int, m: MLSTM, bias: bool, fused: bool) -> Block:
    """An LSTM whose memory is a matrix for each of h heads (arXiv:2405.04517, as arXiv:2503.13427 has it).

    Tensors, with q and v the elements of keys and values: q and k (q, d), v and ogate_preact (v, d), igate_preact and
    fgate_preact (h, d), which have biases always; with `fused` qkv_opreact (2·q + 2·v, d) and ifgate_preact (2·h, d)
    instead; multihead_norm (v), out_proj (d, v).
    """
    heads, keys, values = m.heads, m.key_dim, m.value_dim
    separate = {
        "q": Linear(d, keys, bias),
        "k": Linear(d, keys, bias),
        "v": Linear(d, values, bias),
        "ogate_preact": Linear(d, values, bias),
        "igate_preact": Linear(d, heads, bias=True),
        "fgate_preact": Linear(d, heads, bias=True),
    }
    together = {"qkv_opreact": Linear(d, 2 * keys + 2 * values, bias), "ifgate_preact": Linear(d, 2 * heads, bias=True)}
    return block(
        "linear_attention",
        **(together if fused else separate),
        multihead_norm=layer_norm(values // heads * heads, bias),
        out_proj=Linear(values, d, bias),
    )


def up_gated(d: int, width: int, bias: bool, fused: bool) -> Block:
    """The gated network behind it. Tensors: proj_up_gate and proj_up (d_ff, d), or `fused` proj_up_gate_z (2·d_ff, d);
    proj_down (d, d_ff).
    """
    return block(
        "mlp",
        proj_up_gate_z=Linear(d, 2 * width, bias) if fused else None,
        proj_up_gate=None if fused else Linear(d, width, bias),
        proj_up=None if fused else Linear(d, width, bias),
        proj_down=Linear(width, d, bias),
    )
