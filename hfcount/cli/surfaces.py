"""`hfcount size`, `serve` and `gate`: the options of verify that each is about, with defaults of its own."""

from collections.abc import Mapping
from copy import copy
from typing import Any

import click

from hfcount.cli.main import main
from hfcount.cli.option_groups import GroupedCommand

_WHERE = (
    "revision offline fixtures everything listed timeout no_cache subfolder derive_with style as_json quiet"
    " config no_config"
).split()
_LOAD = "memory ranks context full_context batch dtype engine".split()

_SIZE_HELP = """Count the parameters of a model by component, from its config.

Nothing is compared; `hfcount MODEL` does that. --set and --quantize also count the model with other settings."""
_SIZE_EPILOG = """
\b
Examples:
  hfcount size Qwen/Qwen3-32B                        by component
  hfcount size Qwen/Qwen3-32B --formula              and as formulas
  hfcount size Qwen/Qwen3-32B --set num_key_value_heads=1
  hfcount size Qwen/Qwen3-32B --quantize awq --quantize fp8
  hfcount size A B C --plot sizes.svg                compare models, and draw them
"""
_SERVE_HELP = """Compute the memory to serve a model: weights, KV cache, and how many GPUs can share it.

The model is also verified, as by `hfcount MODEL`. --memory asks whether it fits, --tp whether N GPUs can share it."""
_SERVE_EPILOG = """
\b
Examples:
  hfcount serve Qwen/Qwen3-32B --context 32k --batch 4     how much memory?
  hfcount serve Qwen/Qwen3-32B --memory H100               does it fit, and how many tokens?
  hfcount serve Qwen/Qwen3-32B --memory 24GB --tp 2,4,8    on how many GPUs?
  hfcount serve Qwen/Qwen3-32B --memory H100 --engine raw  the plain sum
"""
_GATE_HELP = """Tell a launcher in one line and an exit code whether to start a model.

Exit code 0 means: the loader (--for) loads the model completely, the GPUs (--tp) can share it, and weights and KV cache
fit in the engine's share of --memory, with --context or the longest context that the config allows."""
_GATE_EPILOG = """
\b
Examples:
  hfcount gate ./my-model --for vllm --tp 4 --memory H100 && vllm serve ./my-model ...
  hfcount gate org/name --for sglang --memory 80GiB --context 32k

\b
Exit codes: 0 go; 1 no: it does not load, cannot be shared or does not fit; 2
wrong usage; 3 unknown.
"""


def _surface(
    name: str, purpose: str, epilog: str, shown: list[str], defaults: Mapping[str, Any], format: str | None = None
) -> click.Command:
    """A command that takes all options of verify, and shows some."""
    params = []
    for known in main.params:
        param = copy(known)
        if isinstance(param, click.Option):
            param.hidden = param.name not in (*shown, *_WHERE)
            if param.name in defaults:
                param.default = defaults[param.name]
        params.append(param)
    settings = {**main.context_settings, "obj": format}
    return GroupedCommand(
        name,
        params=params,
        callback=main.callback,
        help=purpose,
        epilog=epilog,
        context_settings=settings,
        options_metavar="[OPTIONS]",
        add_help_option=True,
    )


size = _surface(
    "size",
    _SIZE_HELP,
    _SIZE_EPILOG,
    ["settings", "schemes", "formula", "tensors", "plot", "dark", "outputs", "page"],
    {"depth": "config"},
)
serve = _surface(
    "serve", _SERVE_HELP, _SERVE_EPILOG, [*_LOAD, "loaders", "settings", "schemes", "outputs"], {}, format="serving"
)
gate = _surface("gate", _GATE_HELP, _GATE_EPILOG, [*_LOAD, "loaders", "strict"], {"full_context": True}, format="gate")
