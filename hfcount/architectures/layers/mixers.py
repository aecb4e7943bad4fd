"""Linear attention, state spaces and short convolutions: mixers of tokens with a state of fixed size."""

from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import divides
from hfcount.mapper import UNSAID, Config
from hfcount.spec import SSM, DeltaNet, ShortConv
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable


def expanded(c: Config, key: str, *, default: int | None = None) -> int:
    """The inner width of a state space: hidden_size times the factor under `key`, rounded down."""
    inner = c.times(key, c.int("hidden_size"), **({} if default is None else {"default": default}))
    if not inner:
        raise c.error("out-of-range", f"{key} times hidden_size is less than 1.", key, "Correct one of them.")
    return inner


def step_rank(c: Config, key: str) -> int:
    """The rank of Mamba's step projection; `auto` or an absent key means hidden_size / 16, rounded up."""
    return c.int(key) if c.is_int(key) else _auto(c, key, (c.int("hidden_size") + 15) // 16)


def _auto(c: Config, key: str, value: int) -> int:
    word = c.str(key, default="auto")
    if word != "auto":
        raise c.error(
            "unknown-kind", f"{key} is {printable(word, 40)}, but must be a whole number or auto.", key, observed=word
        )
    return value


def delta_net(c: Config) -> DeltaNet:
    """Gated DeltaNet, in which several value heads share a key head."""
    key_heads, value_heads = c.int("linear_num_key_heads"), c.int("linear_num_value_heads")
    if value_heads % key_heads:
        text = f"linear_num_value_heads {value_heads:,} is not a multiple of linear_num_key_heads {key_heads:,}"
        c.cannot_run(
            "not-divisible",
            f"{text}, so the values cannot share keys.",
            "linear_num_value_heads",
            "Correct one of them.",
        )
    return DeltaNet(
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=c.int("linear_key_head_dim"),
        value_dim=c.int("linear_value_head_dim"),
        kernel=c.int("linear_conv_kernel_dim"),
    )


def read_mamba2(c: Config, inner: str | None = None) -> SSM:
    """Mamba-2, read from mamba_ keys; the inner width is under the key `inner`, else mamba_expand · hidden_size."""
    width = c.int(inner, default=UNSAID) if inner else None
    width = expanded(c, "mamba_expand", default=2) if width is None else width
    heads = c.int("mamba_n_heads")
    each = divides(c, "mamba_n_heads", heads, "the inner width", width)
    given = c.int("mamba_d_head") if c.is_int("mamba_d_head") else _auto(c, "mamba_d_head", each)
    if given != each:
        text = f"mamba_d_head is {given:,}, and {heads:,} heads of an inner width of {width:,} have {each:,} each."
        raise c.error(
            "not-divisible", text, "mamba_d_head", "Correct one of them.", expected=int(each), observed=int(given)
        )
    return SSM(
        inner=width,
        state=c.int("mamba_d_state"),
        kernel=c.int("mamba_d_conv"),
        heads=heads,
        groups=c.int("mamba_n_groups"),
        conv_bias=c.bool("mamba_conv_bias", default=True),
        bias=c.bool("mamba_proj_bias", default=False),
    )


def conv1d(channels: int, kernel: int, bias: bool = False) -> Block:
    """A causal depthwise convolution. Tensors: weight (channels, 1, w) and, with `bias`, bias."""
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
