"""Says of a folder that a download of huggingface_hub was not finished, and the command that finishes it."""

from os import walk
from pathlib import Path

from hfcount.text import printable

_PART = ".incomplete"
"""The ending of files that huggingface_hub writes while it downloads, and renames when they are whole."""

_REPO = "models--"


def unfinished(folder: Path) -> str:
    """A sentence about a download into a folder, or into the cache that it is a snapshot of; empty if none was begun.

    Args:
        folder: what holds the weights: a snapshot, the `--local-dir` of a download, or any other.
    """
    folder = Path(folder).absolute()
    repo = folder.parent.parent
    is_snapshot = folder.parent.name == "snapshots" and repo.name.startswith(_REPO)
    lost = sorted(entry.name for entry in _entries(folder) if entry.is_symlink() and not entry.exists())
    if is_snapshot:
        begun = _begun(repo / "blobs") or bool(lost)
        name = repo.name.removeprefix(_REPO).replace("--", "/")
        command = f"hf download {printable(name)} --revision {printable(folder.name)}"
    else:
        begun = _begun(folder / ".cache" / "huggingface" / "download")
        command = "hf download with the same --local-dir"
    gone = f"{printable(lost[0])} is a link to a file that is not there" if lost else ""
    if not begun:
        return f"{gone[:1].upper()}{gone[1:]}." if gone else ""
    return f"The download was not finished{f' ({gone})' if gone else ''}: `{command}` goes on with it."


def _begun(folder: Path) -> bool:
    """Whether a file in a folder, or in one below it, is a part of one."""
    return any(name.endswith(_PART) for _, _, files in walk(folder) for name in files)


def _entries(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except OSError:
        return []
