"""The settings of one module, as its class reads them."""

from collections.abc import Collection, Mapping
from typing import Any

from hfcount.errors import DocumentError
from hfcount.text import printable, shown

_LARGEST = 2**40  # elements of one side


class Settings:
    """The config of a module; each mistake is an HF801.

    Args:
        kind: the module's class.
        file: where the settings are, in the checkpoint.
        renamed: old names of keys with the ones of today, which count where both are there.
    """

    def __init__(
        self, kind: str, file: str, values: Mapping[str, Any], renamed: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self.file = kind, file
        self._values = dict(values)
        for old, new in (renamed or {}).items():
            if old in self._values:
                value = self._values.pop(old)
                self._values.setdefault(new, value)

    def check_known(self, known: Collection[str]) -> None:
        """Refuses keys that the class does not take."""
        if unknown := [key for key in self._values if key not in known]:
            text = f"has {printable(unknown[0], 60)}, which {self.kind} does not take"
            raise self.refused(text, unknown[0], "Remove the key, or correct its name.")

    def size(self, key: str, default: int | None = None) -> int:
        """A number of features, channels or layers; required if there is no default."""
        value = self.get(key, default)
        if value is None and key not in self._values:
            raise self.refused(f"has no {key}, which {self.kind} needs", key, "Add it.")
        if type(value) is not int or not 0 < value < _LARGEST:
            raise self.refused(f"has {shown(value)} for {key}, but must give a positive number", key)
        return value

    def sizes(self, key: str, default: Collection[int] = ()) -> list[int]:
        """A list of numbers."""
        value = self.get(key, list(default))
        if not isinstance(value, list) or not value or any(type(number) is not int or number <= 0 for number in value):
            raise self.refused(f"has {shown(value)} for {key}, but must list positive numbers", key)
        return value

    def words(self, key: str) -> list[str]:
        """A list of words; required."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.refused(f"has {shown(value)} for {key}, but must list words", key)
        return value

    def text(self, key: str, default: str) -> str:
        """A name."""
        value = self.get(key, default)
        if not isinstance(value, str):
            raise self.refused(f"has {shown(value)} for {key}, but must give a name", key)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """A value as it stands."""
        return self._values.get(key, default)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def refused(self, problem: str, key: str, fix: str = "Correct it, or save the module again.") -> DocumentError:
        """The error about a key."""
        return DocumentError(f"{printable(self.file)} {problem}.", "HF801", key=key, file=self.file, fix=fix)
