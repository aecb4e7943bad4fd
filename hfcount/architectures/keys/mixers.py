"""Linear attention and state spaces."""

from hfcount.architectures.keys.sizes import divides
from hfcount.mapper import UNSAID, Config
from hfcount.spec import SSM, DeltaNet
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
    found = c.str(key, default="auto")
    if found != "auto":
        raise c.error(
            "unknown-kind", f"{key} is {printable(found, 40)}, and must be a whole number or auto.", key, observed=found
        )
    return value


def delta_net(c: Config) -> DeltaNet:
    """Gated DeltaNet, in which several value heads share a key head."""
    key_heads, value_heads = c.int("linear_num_key_heads"), c.int("linear_num_value_heads")
    if value_heads % key_heads:
        said = f"linear_num_value_heads {value_heads:,} is not a multiple of linear_num_key_heads {key_heads:,}"
        c.cannot_run(
            "not-divisible",
            f"{said}, so the values cannot share keys.",
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


def mamba2(c: Config, inner: str | None = None) -> SSM:
    """Mamba-2, read from mamba_ keys; the inner width is under the key `inner`, else mamba_expand · hidden_size."""
    width = c.int(inner, default=UNSAID) if inner else None
    width = expanded(c, "mamba_expand", default=2) if width is None else width
    heads = c.int("mamba_n_heads")
    each = divides(c, "mamba_n_heads", heads, "the inner width", width)
    given = c.int("mamba_d_head") if c.is_int("mamba_d_head") else _auto(c, "mamba_d_head", each)
    if given != each:
        said = f"mamba_d_head is {given:,}, and {heads:,} heads of an inner width of {width:,} have {each:,} each."
        raise c.error(
            "not-divisible", said, "mamba_d_head", "Correct one of them.", expected=int(each), observed=int(given)
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
