"""hfcount derives every tensor a Hugging Face checkpoint must hold from its config, and verifies what was published.

>>> import hfcount
>>> hfcount.verify("Qwen/Qwen3-32B").verdict
'verified'
>>> hfcount.blueprint({"model_type": "qwen3", ...}).total
32762123264
"""

from hfcount.errors import ConfigError, DocumentError, FetchError, HfcountError, UnknownArchitecture
from hfcount.measures import Blueprint, blueprint
from hfcount.pipeline import verify
from hfcount.report import Report

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

__version__ = "0.1.0"
