"""Every exception of hfcount, one tree:

    HfcountError
    ├── FetchError            could not look: no network, no access, nothing there
    ├── UnknownArchitecture   no family describes this config
    ├── DocumentError         a document is not what it must be; carries a rule's code
    ├── ConfigError           the config lacks a key or contradicts itself; carries a rule's code
    └── BadSetting            a what-if sets a key that nobody knows, or to a value that cannot be

Could not look is an exception; looked and found a difference is a finding in the report.
"""

from typing import Any, Literal

FetchKind = Literal[
    "NoSuchRepo",
    "GatedRepo",
    "NoSuchRevision",
    "NoSuchFolder",
    "NoConfig",
    "NoSafetensors",
    "NoNetwork",
    "NotCached",
    "HubError",
    "UnreadableFile",
    "BadName",
    "NotSaved",
]


class HfcountError(Exception):
    """Base of all errors that hfcount raises on purpose."""

    kind: str = "HfcountError"


class FetchError(HfcountError):
    """The documents could not be had; `kind` says why in one word."""

    def __init__(self, kind: FetchKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is pickled: `kind` is no part of `args`, by which it would be made anew."""
        return type(self), (self.kind, *self.args), self.__dict__


class UnknownArchitecture(HfcountError):
    """No family describes the config's `model_type` and `architectures`."""

    kind = "UnknownArchitecture"


class DocumentError(HfcountError):
    """A document breaks its format; `code` is the rule it breaks."""

    kind = "DocumentError"

    def __init__(self, message: str, code: str = "HF001") -> None:
        super().__init__(message)
        self.code = code


class ConfigError(HfcountError):
    """The config lacks a key or contradicts itself; `code` is the rule it breaks."""

    kind = "ConfigError"

    def __init__(self, message: str, code: str = "HF103") -> None:
        super().__init__(message)
        self.code = code


class BadSetting(HfcountError):
    """A what-if sets a key that neither the config has nor its family reads, or to a value that cannot be."""

    kind = "BadSetting"
