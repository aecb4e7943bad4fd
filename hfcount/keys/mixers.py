"""Linear attention and state spaces."""

from hfcount.errors import ConfigError
from hfcount.keys.sizes import divides
from hfcount.mapper import Config
from hfcount.spec import SSM, DeltaNet
from hfcount.text import printable


def expanded(c: Config, key: str, default: int | None = None) -> int:
    """The inner width of a state space: `key` times the hidden size, rounded down."""
    factor = c.number(key) if default is None else c.number(key, default=default)
    inner = int(factor * c.int("hidden_size"))
    if not inner:
        raise ConfigError(f"{c.where}: {key} times hidden_size is less than 1. Correct one of them.")
    return inner


def step_rank(c: Config, key: str) -> int:
    """The rank from which Mamba makes its steps; `auto`, or none, is a sixteenth of the hidden size, rounded up."""
    return c.int(key) if c.is_int(key) else _auto(c, key, -(-c.int("hidden_size") // 16))


def _auto(c: Config, key: str, value: int) -> int:
    found = c.str(key, default="auto")
    if found != "auto":
        raise ConfigError(f"{c.where}: {key} is {printable(found, 40)}, and must be a whole number or auto.")
    return value


def delta_net(c: Config) -> DeltaNet:
    """Gated DeltaNet, whose key heads serve several value heads each."""
    key_heads, value_heads = c.int("linear_num_key_heads"), c.int("linear_num_value_heads")
    if value_heads % key_heads:
        raise ConfigError(
            f"{c.where}: linear_num_value_heads {value_heads:,} is not a multiple of linear_num_key_heads"
            f" {key_heads:,}, so the values cannot share keys. Correct one of them."
        )
    return DeltaNet(
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=c.int("linear_key_head_dim"),
        value_dim=c.int("linear_value_head_dim"),
        kernel=c.int("linear_conv_kernel_dim"),
    )


def mamba2(c: Config, inner: str | None = None) -> SSM:
    """Mamba-2 by the keys that begin with mamba_; `inner` gives its width where the config has that key."""
    width = c.int(inner, default=None) if inner else None
    width = expanded(c, "mamba_expand", 2) if width is None else width
    heads = c.int("mamba_n_heads")
    each = divides(c, "mamba_n_heads", heads, "the inner width", width)
    given = c.int("mamba_d_head") if c.is_int("mamba_d_head") else _auto(c, "mamba_d_head", each)
    if given != each:
        raise ConfigError(
            f"{c.where}: mamba_d_head is {given:,}, and {heads:,} heads of an inner width of {width:,} have {each:,}"
            " each. Correct one of them."
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
