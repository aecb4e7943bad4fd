"""hfcount derives every tensor a Hugging Face checkpoint must hold from its config, and verifies what was published.

>>> import hfcount
>>> hfcount.verify("Qwen/Qwen3-32B").verdict
'verified'
>>> hfcount.blueprint({"model_type": "qwen3", ...}).total
32762123264
"""

from __future__ import annotations

from hfcount.version import __version__

TYPE_CHECKING = False  # typing's own takes long enough to be interrupted before __main__ can see to that
if TYPE_CHECKING:
    from typing import Any

    from hfcount.errors import ConfigError, DocumentError, FetchError, HfcountError, UnknownArchitecture
    from hfcount.pipeline import verify
    from hfcount.plan import Blueprint, blueprint
    from hfcount.report.model import Report

__all__ = [
    "Blueprint",
    "ConfigError",
    "DocumentError",
    "FetchError",
    "HfcountError",
    "Report",
    "UnknownArchitecture",
    "__version__",
    "blueprint",
    "verify",
]


_HOMES = {"Blueprint": "plan", "blueprint": "plan", "verify": "pipeline", "Report": "report.model"}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used, so that `import hfcount` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"hfcount.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
