"""Every exception of hfcount:

    HfcountError
    ├── FetchError            the documents cannot be read: no network, no access, nothing there
    ├── UnknownArchitecture   no family describes this config
    │   ├── BrokenPlugin      the package that describes it cannot be used
    │   └── UnknownClass      the class that it names is code of the repo's own; carries a rule's code
    ├── DocumentError         a document is not what it must be; carries a rule's code
    ├── ConfigError           the config lacks a key or contradicts itself; carries a rule's code
    ├── NotVerified           only raised by Report.raise_for_verdict
    ├── SweepError            a sweep cannot go on: its folder, its workers or its listing cannot be used
    ├── BadSetting            a what-if sets an unknown key, or a key to an impossible value
    └── SettingsError         a settings file cannot be read, or has an unknown key or a wrong value

A run that cannot read its input raises an exception; a difference is reported as a finding.
"""

from typing import Any, Literal

Value = bool | int | float | str | tuple[int, ...] | tuple[str, ...] | None
"""What a finding expected or observed: a number, a name, a shape, or several names."""

FetchKind = Literal[
    "NoSuchRepo",
    "GatedRepo",
    "NoSuchRevision",
    "NoSuchFolder",
    "NoConfig",
    "NoSafetensors",
    "NoSuchFile",
    "NoNetwork",
    "NotCached",
    "HubError",
    "UnreadableFile",
    "BadName",
    "NotSaved",
]


Variant = Literal["contradiction", "list-length", "not-described", "not-divisible", "out-of-range", "unknown-kind"]
"""What is wrong with values of a config: the variants of HF103, which its rule explains."""


class HfcountError(Exception):
    """Base of all errors that hfcount raises on purpose; `report` is what `verify` reports of it, if that raised it."""

    kind: str = "HfcountError"
    report: Any = None


class FetchError(HfcountError):
    """The documents could not be read; `kind` says why in one word."""

    def __init__(self, kind: FetchKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles `kind` too, which is not in `args`."""
        return type(self), (self.kind, *self.args), self.__dict__


class UnknownArchitecture(HfcountError):
    """No family describes the config's `model_type` and `architectures`."""

    kind = "UnknownArchitecture"


class BrokenPlugin(UnknownArchitecture):
    """The installed package that describes the type cannot be used; the text says which, and why."""

    kind = "BrokenPlugin"


class BrokenRule(HfcountError):
    """An error that becomes a finding of the rule `code`.

    Args:
        text: what is wrong, and where.
        variant: of HF103, what is wrong.
        key: the full key path in the document.
        file: the file in the checkpoint.
        expected, observed: the two values, if there are two.
        fix: what to do, as the last sentences of the message.
        built: whether a model may be built and loaded all the same, so that it is no error.
    """

    code = "HF001"

    def __init__(
        self,
        text: str,
        code: str | None = None,
        *,
        variant: Variant | None = None,
        key: str | None = None,
        file: str | None = None,
        expected: Value = None,
        observed: Value = None,
        fix: str | None = None,
        built: bool = False,
    ) -> None:
        super().__init__(f"{text} {fix}" if fix else text)
        self.text, self.code, self.key, self.file = text, code or self.code, key, file
        self.variant = variant
        self.expected, self.observed, self.fix, self.built = expected, observed, fix, built


class DocumentError(BrokenRule):
    """A document breaks its format; `code` is the rule it breaks."""

    kind = "DocumentError"


class ConfigError(BrokenRule):
    """The config lacks a key or contradicts itself; `code` is the rule it breaks."""

    kind = "ConfigError"
    code = "HF103"


class UnknownClass(BrokenRule, UnknownArchitecture):
    """The config names a class that no family describes; `code` is the rule that says so."""

    kind = "UnknownArchitecture"
    code = "HF109"


class NotVerified(HfcountError):
    """A checkpoint is not what it should be, or nothing proves it; `report` says what was found."""

    kind = "NotVerified"

    def __init__(self, message: str, report: Any = None) -> None:
        super().__init__(message)
        self.report = report


class SweepError(HfcountError):
    """A sweep cannot begin or go on; what it has written stays, and the next run goes on from there."""

    kind = "SweepError"


class BadSetting(HfcountError):
    """A what-if sets a key that is neither in the config nor read by its family, or sets it to an impossible value."""

    kind = "BadSetting"


class SettingsError(HfcountError):
    """A settings file (hfcount.toml or pyproject.toml) cannot be read, or has an unknown key or a wrong value."""

    kind = "SettingsError"
