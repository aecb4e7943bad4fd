"""Checkpoints on disk: a local folder, a fixture tree, the standard cache."""

import os
import re
import stat
from dataclasses import replace
from pathlib import Path, PurePosixPath

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.interface import CAPS, CONFIG, HEADERS, INDEX, Documents, Source, label
from hfcount.fetcher.shards import LocalShards, read_recording
from hfcount.formats.json import Document
from hfcount.text import printable


def is_folder(path: Path) -> bool:
    """Whether there is a folder; a name that no file system takes is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether there is anything of that name, or it can only be meant as a config's own file."""
    try:
        return path.name == CONFIG or path.exists()
    except (OSError, ValueError):
        return False


def home(model: str) -> Path:
    """The path that MODEL is, with `~` resolved where there is such a user."""
    try:
        return Path(model).expanduser()
    except RuntimeError:
        return Path(model)


def looks_local(model: str) -> bool:
    """Whether a MODEL can only be meant as a path."""
    return model.startswith((".", "/", "~", os.sep)) or "\\" in model


def check_subfolder(subfolder: str | None) -> None:
    """Refuses a subfolder that could leave its repo: hf_hub_url would put it into a URL as it is, token and all."""
    if subfolder is not None and (
        any(segment in ("", ".", "..") for segment in subfolder.split("/")) or re.search(r"[\\%\0:]", subfolder)
    ):
        raise FetchError("BadName", f"{printable(subfolder)} is not a folder inside a repo. Leave out `..` and `/`.")


def read_folder(
    folder: Path, model: str, source: Source, revision: str | None = None, label: str | None = None
) -> Documents:
    """The documents of one folder.

    Args:
        label: what messages call the documents; their paths when None.

    Raises:
        FetchError: NoSuchFolder, NoConfig or UnreadableFile.
    """
    if not is_folder(folder):
        raise FetchError(
            "NoSuchFolder", f"{printable(str(folder))} is not a folder. Check the path of {printable(model)}."
        )
    config = _read(folder, CONFIG, label)
    if config is None:
        raise FetchError("NoConfig", f"{printable(str(folder))} has no {CONFIG}{_instead(folder)}.")
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    return Documents(
        model=model,
        source=source,
        revision=revision,
        config=config,
        index=_read(folder, INDEX, label),
        shards=LocalShards(folder, [name for name in files if name.endswith(".safetensors")]),
        files=files,
    )


def read_file(path: Path, model: str) -> Documents:
    """A config by its own file, whatever it is called, and nothing beside it."""
    config = _read(path.parent, path.name)
    if config is None:
        raise FetchError("NoConfig", f"there is no file {printable(str(path))}. Check the path.")
    return Documents(model, "folder", None, config, None, LocalShards(path.parent, []), alone=True)


def read_fixture(root: Path, model: str) -> Documents:
    """A checkpoint below a fixture tree, by its path there."""
    if not is_folder(root):
        raise FetchError("NoSuchFolder", f"{printable(str(root))} is not a folder. Check --fixtures.")
    path = PurePosixPath(model)
    if path.is_absolute() or ".." in path.parts or "\0" in model:
        raise FetchError(
            "BadName", f"{printable(model)} is not a path below {printable(str(root))}. Leave out `..` and `/`."
        )
    folder = root / path
    if not is_folder(folder):
        raise FetchError(
            "NoSuchFolder",
            f"{printable(str(folder))} is not a folder. `hfcount --fixtures {printable(str(root))} --all` reads all"
            " there are.",
        )
    recorded = _read(folder, HEADERS)
    try:
        revision, shards, beside = read_recording(recorded) if recorded else (None, None, [])
    except DocumentError as error:
        raise FetchError("UnreadableFile", str(error)) from None
    # Messages name a recorded document as the run did that recorded it.
    documents = read_folder(folder, model, "fixtures", revision, label(model, revision))
    return replace(documents, shards=shards or documents.shards, files=[*documents.files, *beside])


def all_fixtures(root: Path) -> list[str]:
    """Every path below `root` that holds a config.json."""
    if not is_folder(root):
        raise FetchError("NoSuchFolder", f"{printable(str(root))} is not a folder. Check --fixtures.")
    found = sorted(path.parent.relative_to(root).as_posix() for path in root.rglob(CONFIG))
    if not found:
        raise FetchError("NoConfig", f"no {CONFIG} anywhere below {printable(str(root))}.")
    return found


def read_cache(model: str, revision: str | None, subfolder: str | None = None) -> Documents:
    """A checkpoint in the standard cache of huggingface_hub, without asking the Hub.

    The layout is read here because huggingface_hub's own lookup imports its HTTP client.
    """
    from huggingface_hub import constants

    if not re.fullmatch(r"(?!.*(--|\.\.))[\w.-]+(/[\w.-]+)?", model) or len(model) > 96:
        raise FetchError("BadName", f"{printable(model)} is no repo id. Nor is there a folder or file of that name.")
    name = revision or "main"
    home = Path(constants.HF_HUB_CACHE) / constants.REPO_ID_SEPARATOR.join(("models", *model.split("/")))
    commit = name
    if not re.fullmatch(r"[0-9a-f]{40}", name):
        try:
            commit = (home / "refs" / name).read_text(encoding="ascii").strip() if _plain(name) else ""
        except (OSError, ValueError):
            commit = ""
    folder = home / "snapshots" / commit
    if not re.fullmatch(r"[0-9a-f]{40}", commit) or not is_folder(folder):
        raise FetchError(
            "NotCached",
            f"{printable(model)} at {printable(name)} is not in the cache {printable(str(home.parent))}. Run once"
            " without --offline (and without HF_HUB_OFFLINE).",
        )
    if subfolder:
        folder, model = folder / subfolder, f"{model}/{subfolder}"
    return read_folder(folder, model, "cache", commit, label(model, commit))


def _plain(name: str) -> bool:
    return bool(name) and ".." not in name.split("/") and not name.startswith("/") and "\0" not in name


def _read(folder: Path, name: str, label: str | None = None) -> Document | None:
    path = folder / name
    where = f"{label} {name}" if label else printable(str(path))
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise FetchError("UnreadableFile", f"{where} is not a regular file.")
        cap = CAPS.get(name, CAPS[CONFIG])
        if facts.st_size > cap:
            raise FetchError(
                "UnreadableFile", f"{where} has {facts.st_size:,} bytes; {cap:,} are the most that is read."
            )
        return Document(where, path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FetchError("UnreadableFile", f"{where} cannot be read: {error.strerror}.") from None


def _instead(folder: Path) -> str:
    """What a folder without a config has, where that says why."""
    for name, what in (
        ("adapter_config.json", "only an adapter: count the base model it names"),
        ("model_index.json", "a pipeline of several models: name one with --subfolder"),
        ("params.json", "weights in their author's own layout"),
    ):
        if (folder / name).exists():
            return f", {what} ({name})"
    return ""
