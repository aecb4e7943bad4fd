"""The arguments that a config gives timm beside a name."""

from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.text import printable

DROPPED = frozenset({"drop_rate", "proj_drop_rate", "drop_path_rate"})
"""Arguments that say how often something is left out in training, and bear on no shape."""

COLOURS = 3


def arguments(c: Config, name: str, builds: frozenset[str], shapeless: frozenset[str]) -> Config:
    """The model_args of a config; `builds` and `shapeless` are those that are understood.

    Raises:
        UnknownArchitecture: there are others.
        ConfigError: num_classes is among them.
    """
    for key in c.object("model_args") or {}:
        if key == "num_classes":
            raise c.error(
                "contradiction", "model_args must not give num_classes, which the class gives itself.", "model_args"
            )
        if key not in builds and key not in shapeless:
            said = f"{name} with {printable(key, 40)} in model_args is not described, but with"
            raise UnknownArchitecture(f"{c.where}: {said} {', '.join(sorted(builds))}.")
    args = c.part("model_args")
    args.ignored = shapeless
    return args


def switch(args: Config, name: str, default: bool) -> bool:
    """A switch; timm drops an argument that is null."""
    return args.bool(name) if args.given(name) else default
