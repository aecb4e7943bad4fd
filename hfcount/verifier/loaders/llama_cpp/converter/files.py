"""Gives recorded functions the files of a checkpoint, as far as they are known."""

from collections.abc import Collection, Mapping
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.operators import NotRun

_CARD = "README.md"


class Folder:
    """The folder of a checkpoint.

    Args:
        files: the names of its files; empty if they were not listed.
        documents: what files that were read hold, by name.
        path: of a file in it; empty for the folder.
    """

    def __init__(self, files: Collection[str], documents: Mapping[str, Any], path: str = "") -> None:
        self.files, self.documents, self.path = files, documents, path

    def __truediv__(self, name: str) -> "Folder":
        return Folder(self.files, self.documents, f"{self.path}/{name}" if self.path else name)

    def attribute(self, name: str) -> Any:
        """An attribute or method of a path."""
        match name:
            case "name" | "stem":
                return self.path or "model"
            case "is_file" | "exists":
                return self.is_file
            case "is_dir":
                return lambda: not self.path
            case "parent":
                return Folder(self.files, self.documents)
            case "open":
                return lambda *given, **named: opened(self)
        raise NotRun(f"{name} of a path")

    def __str__(self) -> str:
        return self.path or "model"

    def is_file(self) -> bool:
        """Whether it is there; a card is taken to be without words that decide anything."""
        if self.path in self.documents:
            return True
        return self.path in self.files and self.path != _CARD

    def opened(self) -> "Folder":
        """It, where it is there or may be."""
        if self.files and self.path not in self.files and self.path not in self.documents:
            raise FileNotFoundError(f"No such file or directory: {self.path}")
        return self


def opened(path: Any, *given: Any, **named: Any) -> Folder:
    """A file that is opened.

    Raises:
        FileNotFoundError: it is not there.
    """
    if not isinstance(path, Folder):
        raise NotRun("opening a file")
    return path.opened()


def parsed(file: Folder) -> Any:
    """What a file of JSON holds."""
    if file.path in file.documents:
        return file.documents[file.path]
    raise NotRun(f"it reads {file.path}")
