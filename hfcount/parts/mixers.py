"""Linear attention, state spaces and short convolutions: mixers of tokens that keep a state of fixed size."""

from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.spec import LRU, MLSTM, SSM, DeltaNet, Lightning, ShortConv
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer


def conv1d(channels: int, kernel: int, bias: bool = False) -> Block:
    """A causal convolution of each channel by itself. Tensors: weight (channels, 1, w) and, with `bias`, bias."""
    return block(weight=Tensor((channels, 1, kernel)), bias=Tensor((channels,)) if bias else None)


def gated_delta_net(d: int, a: DeltaNet, fused: bool = False) -> Block:
    """Gated DeltaNet (arXiv:2412.06464), with keys of l_k·l_dk = q and values of l_v·l_dv = v elements.

    Tensors: in_proj_qkv (2·q + v, d), in_proj_z (v, d), in_proj_b and in_proj_a (l_v, d), or `fused` in_proj_qkvz and
    in_proj_ba; conv1d (2·q + v, 1, w), dt_bias and A_log (l_v), norm (l_dv), out_proj (d, v).
    """
    keys, values = a.key_heads * a.key_dim, a.value_heads * a.value_dim
    return block(
        "linear_attention",
        in_proj_qkvz=Linear(d, 2 * keys + 2 * values) if fused else None,
        in_proj_ba=Linear(d, 2 * a.value_heads) if fused else None,
        in_proj_qkv=None if fused else Linear(d, 2 * keys + values),
        in_proj_z=None if fused else Linear(d, values),
        in_proj_b=None if fused else Linear(d, a.value_heads),
        in_proj_a=None if fused else Linear(d, a.value_heads),
        conv1d=conv1d(2 * keys + values, a.kernel),
        dt_bias=Tensor((a.value_heads,)),
        A_log=Tensor((a.value_heads,)),
        norm=rms_norm(a.value_dim),
        out_proj=Linear(values, d),
    )


def mamba(d: int, m: SSM, norms: bool = False) -> Block:
    """A selective state space (arXiv:2312.00752), d_in wide, with a step projection of rank r_dt.

    Tensors: in_proj (2·d_in, d), conv1d (d_in, 1, w), x_proj (r_dt + 2·s, d_in), dt_proj (d_in, r_dt) with bias,
    A_log (d_in, s), D (d_in), out_proj (d, d_in); with `norms` dt_layernorm (r_dt), b_layernorm and c_layernorm (s).
    """
    rank = m.step_rank or 0
    return block(
        "ssm",
        in_proj=Linear(d, 2 * m.inner, m.bias),
        conv1d=conv1d(m.inner, m.kernel, m.conv_bias),
        x_proj=Linear(m.inner, rank + 2 * m.state),
        dt_proj=Linear(rank, m.inner, bias=True),
        A_log=Tensor((m.inner, m.state)),
        D=Tensor((m.inner,)),
        out_proj=Linear(m.inner, d, m.bias),
        dt_layernorm=rms_norm(rank) if norms else None,
        b_layernorm=rms_norm(m.state) if norms else None,
        c_layernorm=rms_norm(m.state) if norms else None,
    )


def mamba2(d: int, m: SSM, norm: bool = True, out_bias: bool | None = None) -> Block:
    """A state space of h_m heads that share inputs in g groups (arXiv:2405.21060).

    Tensors: in_proj (2·d_in + 2·g·s + h_m, d), conv1d (d_in + 2·g·s, 1, w), dt_bias, A_log and D (h_m), norm (d_in)
    if `norm`, out_proj (d, d_in), which has a bias if in_proj has one, unless `out_bias` is given.
    """
    heads, mixed = m.heads or 1, m.inner + 2 * (m.groups * m.state)
    return block(
        "ssm",
        in_proj=Linear(d, m.inner + mixed + heads, m.bias),
        conv1d=conv1d(mixed, m.kernel, m.conv_bias),
        dt_bias=Tensor((heads,)),
        A_log=Tensor((heads,)),
        D=Tensor((heads,)),
        norm=rms_norm(m.inner) if norm else None,
        out_proj=Linear(m.inner, d, m.bias if out_bias is None else out_bias),
    )


def short_conv(d: int, a: ShortConv) -> Block:
    """A gated short convolution (arXiv:2511.23404).

    Tensors: in_proj (3·d, d), conv (d, 1, w), out_proj (d, d).
    """
    return block(
        "linear_attention",
        in_proj=Linear(d, 3 * d, a.bias),
        conv=conv1d(d, a.kernel, a.bias),
        out_proj=Linear(d, d, a.bias),
    )


def kimi_delta(d: int, a: DeltaNet, ranked: bool = True, out: str = "o_proj") -> Block:
    """Kimi Delta Attention (arXiv:2510.26692), with a decay per channel from a projection of rank l_dk.

    Tensors, with q = l_k·l_dk: q_proj, k_proj, v_proj (q, d), each with its conv1d (q, 1, w); f_a_proj (l_dk, d) and
    f_b_proj (q, l_dk), dt_bias (q) and A_log (1, 1, l_k, 1) for the decay; b_proj (l_k, d); g_a_proj, g_b_proj as f's
    for the gate; o_norm (l_dk), o_proj (d, q).

    Args:
        ranked: False gives decay and gate one projection each, f_proj and g_proj (q, d), and A_log (l_k).
        out: name of the output projection.
    """
    keys = a.key_heads * a.key_dim
    parts = block(
        q_proj=Linear(d, keys),
        k_proj=Linear(d, keys),
        v_proj=Linear(d, keys),
        q_conv1d=conv1d(keys, a.kernel),
        k_conv1d=conv1d(keys, a.kernel),
        v_conv1d=conv1d(keys, a.kernel),
        f_a_proj=Linear(d, a.key_dim) if ranked else None,
        f_b_proj=Linear(a.key_dim, keys) if ranked else None,
        f_proj=None if ranked else Linear(d, keys),
        dt_bias=Tensor((keys,)),
        A_log=Tensor((1, 1, a.key_heads, 1) if ranked else (a.key_heads,)),
        b_proj=Linear(d, a.key_heads),
        g_a_proj=Linear(d, a.key_dim) if ranked else None,
        g_b_proj=Linear(a.key_dim, keys) if ranked else None,
        g_proj=None if ranked else Linear(d, keys),
        o_norm=rms_norm(a.key_dim),
    )
    return Block({**parts.children, out: Linear(keys, d)}, "linear_attention")


def unfused_delta_net(d: int, a: DeltaNet) -> Block:
    """Gated DeltaNet (arXiv:2412.06464) with separate projections.

    Tensors, with q = l_k·l_dk and v = l_v·l_dv: q_proj and k_proj (q, d), v_proj and g_proj (v, d), a_proj and b_proj
    (l_v, d), A_log and dt_bias (l_v), o_norm (l_dv), o_proj (d, v). The convolution of all 2·q + v channels is stored
    in three equal parts, the last of which may be smaller: q_conv1d, k_conv1d, v_conv1d.
    """
    keys, values = a.key_heads * a.key_dim, a.value_heads * a.value_dim
    mixed = 2 * keys + values
    third = (mixed + 2) // 3
    return block(
        "linear_attention",
        q_proj=Linear(d, keys),
        k_proj=Linear(d, keys),
        v_proj=Linear(d, values),
        a_proj=Linear(d, a.value_heads),
        b_proj=Linear(d, a.value_heads),
        g_proj=Linear(d, values),
        q_conv1d=conv1d(third, a.kernel),
        k_conv1d=conv1d(third, a.kernel),
        v_conv1d=conv1d(mixed - 2 * third, a.kernel),
        A_log=Tensor((a.value_heads,)),
        dt_bias=Tensor((a.value_heads,)),
        o_norm=rms_norm(a.value_dim),
        o_proj=Linear(values, d),
    )


def rg_lru(d: int, a: LRU) -> Block:
    """The recurrent block of Griffin (arXiv:2402.19427, section 2.4).

    Tensors: linear_y and linear_x (d_r, d), conv_1d (d_r, 1, w), under rg_lru recurrent_param (d_r) and two gates, each
    a weight (h_r, d_r/h_r, d_r/h_r) and a bias (h_r, d_r/h_r); linear_out (d, d_r). All projections have biases.
    """
    part = a.width // a.heads
    gate, bias = Tensor((a.heads, part, part)), Tensor((a.heads, part))
    return block(
        "linear_attention",
        linear_y=Linear(d, a.width, bias=True),
        linear_x=Linear(d, a.width, bias=True),
        conv_1d=conv1d(a.width, a.kernel, bias=True),
        rg_lru=block(
            recurrent_param=Tensor((a.width,)),
            input_gate_weight=gate,
            input_gate_bias=bias,
            recurrent_gate_weight=gate,
            recurrent_gate_bias=bias,
        ),
        linear_out=Linear(a.width, d, bias=True),
    )


def lightning(d: int, a: Lightning, size: int) -> Block:
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


def zamba(d: int, m: SSM) -> Block:
    """Mamba with separate step and input projections for each head (arXiv:2405.16712).

    Tensors, with p = d_in/h_m: in_proj (2·d_in, d), conv1d (d_in, 1, w), x_proj_weight (h_m, r_dt + 2·s, p),
    dt_proj_weight (h_m, p, r_dt), dt_proj_bias and D (h_m, p), A_log (h_m, p, s), out_proj (d, d_in).
    """
    heads, rank = m.heads or 1, m.step_rank or 0
    part = m.inner // heads
    return block(
        "ssm",
        in_proj=Linear(d, 2 * m.inner, m.bias),
        conv1d=conv1d(m.inner, m.kernel, m.conv_bias),
        x_proj_weight=Tensor((heads, rank + 2 * m.state, part)),
        dt_proj_weight=Tensor((heads, part, rank)),
        dt_proj_bias=Tensor((heads, part)),
        A_log=Tensor((heads, part, m.state)),
        D=Tensor((heads, part)),
        out_proj=Linear(m.inner, d, m.bias),
    )


def mlstm(d: int, m: MLSTM, bias: bool, fused: bool) -> Block:
    """An LSTM with a matrix memory for each of l heads (arXiv:2405.04517, in the form of arXiv:2503.13427).

    Tensors, for keys of l_dk = q and values of l_dv = v elements: q and k (q, d), v and ogate_preact (v, d),
    igate_preact and fgate_preact (l, d), which always have biases; with `fused` instead qkv_opreact (2·q + 2·v, d) and
    ifgate_preact (2·l, d); multihead_norm (v), out_proj (d, v).
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
