"""HF733: setting refused."""

from typing import Any

from hfcount.text import shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT


class SettingRefused(Finding):
    """adapter_config.json sets a key to a value that PEFT, or mlx-lm, refuses, whatever the base is.

    Args:
        key: the setting.
        value: its value; None where it is null or absent.
        wanted: what it may be, in words.
        library: what refuses it, with its version.
    """

    code = "HF733"
    name = "setting-refused"
    level = "error"
    why = "It was edited by hand, or written by another tool."
    remedy = "Set it to an allowed value; a key that is left out has its default."

    key: str
    value: Any
    wanted: str
    library: str = PEFT

    @property
    def text(self) -> str:
        return (
            f"{self.key} in adapter_config.json is {shown(self.value)}, but must be {self.wanted}: {self.library}"
            " refuses to load the adapter."
        )
