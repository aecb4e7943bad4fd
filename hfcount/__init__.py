"""hfcount derives every tensor a Hugging Face checkpoint must hold from its config, and verifies what was published.

>>> import hfcount
>>> report = hfcount.verify("Qwen/Qwen3-32B", fixtures="fixtures")  # without fixtures, on the Hub
>>> report.verdict, report.parameters.total
('verified', 32762123264)
"""

from __future__ import annotations

from hfcount.report.renderings import DIFF_RENDERINGS, RENDERINGS
from hfcount.version import __version__

TYPE_CHECKING = False  # typing's own takes long enough to be interrupted before __main__ can see to that
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hfcount.api import diff, saves, verify, verify_model, verify_tensors, what_ifs
    from hfcount.api.callback import VerifyCallback
    from hfcount.blueprints.blueprint import Blueprint
    from hfcount.blueprints.build import blueprint
    from hfcount.diffing.model import Diff
    from hfcount.diffing.rendering import Way as DiffWay
    from hfcount.diffing.saves.model import Saves
    from hfcount.errors import (
        BadSetting,
        ConfigError,
        DocumentError,
        FetchError,
        HfcountError,
        NotVerified,
        SettingsError,
        SweepError,
        UnknownArchitecture,
    )
    from hfcount.report.model import Report, Verdict
    from hfcount.report.model import ReportedFinding as Finding
    from hfcount.report.renderers import Way
    from hfcount.sweeping.run import sweep
    from hfcount.sweeping.sources_spec import Collection, Listing

_HOMES = {
    "BadSetting": "errors",
    "Blueprint": "blueprints.blueprint",
    "Collection": "sweeping.sources_spec",
    "ConfigError": "errors",
    "Diff": "diffing.model",
    "DocumentError": "errors",
    "FetchError": "errors",
    "Finding": "report.model",
    "HfcountError": "errors",
    "Listing": "sweeping.sources_spec",
    "NotVerified": "errors",
    "Report": "report.model",
    "Saves": "diffing.saves.model",
    "SettingsError": "errors",
    "SweepError": "errors",
    "UnknownArchitecture": "errors",
    "Verdict": "report.model",
    "VerifyCallback": "api.callback",
    "blueprint": "blueprints.build",
    "diff": "api",
    "saves": "api",
    "sweep": "sweeping.run",
    "verify": "api",
    "verify_model": "api",
    "verify_tensors": "api",
    "what_ifs": "api",
}

__all__ = [
    "BadSetting",
    "Blueprint",
    "Collection",
    "ConfigError",
    "Diff",
    "DocumentError",
    "FetchError",
    "Finding",
    "HfcountError",
    "Listing",
    "NotVerified",
    "Report",
    "Saves",
    "SettingsError",
    "SweepError",
    "UnknownArchitecture",
    "Verdict",
    "VerifyCallback",
    "__version__",
    "blueprint",
    "diff",
    "saves",
    "sweep",
    "verify",
    "verify_model",
    "verify_tensors",
    "what_ifs",
]


def _rendering(way: Way) -> Callable[[Report], str]:
    def render(report: Report) -> str:
        from hfcount.report.renderers import shown  # only where a report is to show itself

        return shown(report, way)

    return render


def _diff_rendering(way: DiffWay) -> Callable[[Diff], str]:
    def render(diff: Diff) -> str:
        from hfcount.diffing.rendering import shown  # as above

        return shown(diff, way)

    return render


RENDERINGS.update(
    text=_rendering("text"),
    reasons=_rendering("reasons"),
    markdown=_rendering("markdown"),
    html=_rendering("html"),
    notebook=_rendering("notebook"),
)
DIFF_RENDERINGS.update(text=_diff_rendering("text"), markdown=_diff_rendering("markdown"), html=_diff_rendering("html"))


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used, so that `import hfcount` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"hfcount.{_HOMES[name]}"), "ReportedFinding" if name == "Finding" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
