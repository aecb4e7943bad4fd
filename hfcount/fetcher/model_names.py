"""Parses MODEL: a URL of the Hub, hf://, org/name@REV, or a weight file of a local folder."""

import os
import re
from urllib.parse import unquote, urlsplit

from hfcount.errors import FetchError
from hfcount.fetcher import folder
from hfcount.fetcher.interface import Request
from hfcount.fetcher.layout import ADAPTER, BESIDE_CONFIG, BIN_INDEX, CONFIG, INDEX, MODEL_INDEX, is_loose
from hfcount.text import printable

_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
_OTHERS = {"datasets": "a dataset", "spaces": "a Space", "kernels": "a kernel", "buckets": "a bucket"}
_FOLDERS, _FILES = ("tree", "commit", "commits"), ("blob", "resolve", "raw", "blame")
_PAGES = (*_FOLDERS, *_FILES)
_REFS = r"refs/(?:pr/\d+|convert/[\w.-]+)(?=/|$)"
"""Revisions with slashes that the Hub's pages and huggingface_hub write as they are."""

_REPO_PART = r"(?a)\w[\w.-]{0,95}"

_TAGGED = r"((?:(?:www\.)?(?:huggingface\.co|hf\.co)/|hf://)?[^@/\s:]+/[^@/\s:]+):([\w.-]+)"
"""`org/name:Q4_K_M`, as llama.cpp and Ollama name one GGUF file of a repo."""


def understood(request: Request) -> Request:
    """The request with MODEL split into repo id, revision and subfolder; or with a local path.

    Nothing is asked of the Hub. With `fixtures` MODEL is a path below that folder, and a local folder or file of that
    name goes before any other meaning.

    Raises:
        FetchError: BadName, an address of something else than a model.
        ValueError: a revision where there are none, or MODEL names another revision or subfolder than the arguments.
    """
    request = _without_file(request)
    model, shown = request.model, public(request.model)
    if request.fixtures is not None or _is_local(model):
        if request.revision is not None:
            what = "folder" if request.fixtures or os.path.isdir(folder.local_path(model)) else "file"
            named = "--fixtures" if request.fixtures else shown
            raise ValueError(f"{named} is a local {what}, which has no revisions. Leave out the revision.")
        return _in_folder(request)
    if tagged := re.fullmatch(_TAGGED, model):
        return understood(request.replace(model=tagged[1])).replace(file=tagged[2])
    repo, revision, subfolder = _taken_apart(model)
    for what, part, asked in (("revision", revision, request.revision), ("subfolder", subfolder, request.subfolder)):
        if part and asked and part != asked:
            raise ValueError(
                f"{shown} names the {what} {printable(part)}, but the option names {printable(asked)}. Leave one out."
            )
    path = re.split("[?#]", model)[0]
    file = os.path.basename(path) if _is_gguf(path) and (_is_address(model) or _is_page(model)) else request.file
    return request.replace(
        model=repo,
        revision=revision or request.revision,
        subfolder=subfolder or request.subfolder,
        file=unquote(file) if file else None,
    )


def _without_file(request: Request) -> Request:
    """The request with the repo that a file in it is named of: `org/name/config.json`, as no local path is."""
    parts = request.model.split("/")
    is_gguf = _is_gguf(parts[-1])
    named = parts[-1] in BESIDE_CONFIG or parts[-1] == CONFIG or _is_weights(parts[-1]) or is_gguf
    if request.fixtures is not None or not named or not _is_in_repo(parts) or _names_page(request.model):
        return request
    return request.replace(model="/".join(parts[:-1]), file=parts[-1] if is_gguf else request.file)


def _is_in_repo(parts: list[str]) -> bool:
    """Whether the segments of a path are those of something in a repo, and lead nowhere on disk."""
    if len(parts) < 3 or parts[0] in ("models", *_OTHERS) or os.path.lexists(parts[0]):
        return False
    return all(re.fullmatch(_REPO_PART, part) for part in parts[:2])


def _names_page(model: str) -> bool:
    """Whether a page follows the repo, such as `blob/main`; an address without a scheme has its host before that."""
    parts = model.split("/")
    return not {*(parts[2:5] if _is_address(model) else parts[2:3])}.isdisjoint(_PAGES)


def _is_page(model: str) -> bool:
    """Whether it is the path of a page of the Hub, without the host: `org/name/resolve/main/config.json`."""
    parts = model.split("/")
    return len(parts) > 3 and parts[2] in _PAGES and _is_in_repo(parts)


def _in_folder(request: Request) -> Request:
    """The same with the folder that a local weight file lies in; one without a config alone is asked for."""
    model = request.model
    if request.fixtures is not None or not os.path.isfile(folder.local_path(model)):
        return request
    if _is_gguf(model) or _is_alone(model):
        return request.replace(model=os.path.dirname(model) or ".", file=os.path.basename(model))
    if _is_weights(model) or os.path.basename(model) in BESIDE_CONFIG:
        return request.replace(model=os.path.dirname(model) or ".")
    return request


def public(model: str) -> str:
    """MODEL as it may be shown: of an address neither user nor query, which may be secret."""
    return printable(re.sub(r"//[^/@]*@", "//", re.split("[?#]", model)[0]) if "://" in model else model)


def _is_local(model: str) -> bool:
    """Whether MODEL is on disk, or can only be meant so: then no Hub is asked about it."""
    if os.path.lexists(folder.local_path(model)):
        return True
    return not _is_address(model) and not _is_page(model) and folder.takes(Request(model))


def _is_weights(model: str) -> bool:
    return os.path.basename(model) in (INDEX, BIN_INDEX) or model.endswith((".safetensors", ".bin"))


def _is_alone(model: str) -> bool:
    """Whether it names a local file of safetensors in a folder without a config, such as a LoRA of diffusion."""
    path = folder.local_path(model)
    return is_loose(path.name) and not any(
        os.path.exists(path.parent / name) for name in (CONFIG, MODEL_INDEX, ADAPTER)
    )


def _is_gguf(model: str) -> bool:
    """Whether it names a GGUF file, or a raw cut of one."""
    ending = r"\.gguf([.-](part|split)[\w.-]*)?$"
    return ".gguf" in model.lower() and re.search(ending, model, re.IGNORECASE) is not None


def _taken_apart(model: str) -> tuple[str, str | None, str | None]:
    """Repo id, revision and subfolder, as far as MODEL names them."""
    if model.startswith("hf://"):
        kind, _, rest = model.removeprefix("hf://").strip("/").partition("/")
        if kind != "models":
            kind, rest = (kind, rest) if kind in _OTHERS else ("models", f"{kind}/{rest}" if rest else kind)
        _check_kind(model, kind)
        repo, at, tail = _divided(rest)
        revision, path = _revision(tail) if at else (None, tail)
        return repo, revision, _folder(path, not path.endswith((".json", ".safetensors", ".gguf")))
    if _is_address(model):
        return _page(model, _segments(model))
    named = re.fullmatch(r"([^@/\s:]+(?:/[^@/\s:]+)?)@([^\s:~^?*\[\\]+)", model)
    return (named[1], unquote(named[2]), None) if named else _path(model)


def _path(model: str) -> tuple[str, str | None, str | None]:
    """A repo, or a path in one as its page has it: org/name/folder, org/name/tree/main, datasets/org/name."""
    segments = model.split("/")
    deep = len(segments) > 2 and (segments[0] == "models" or not {*segments[1:3]}.isdisjoint(_PAGES))
    if segments[0] in _OTHERS or deep:
        return _page(model, segments)
    if "" in segments:
        return model, None, None
    return "/".join(segments[:2]), None, "/".join(segments[2:]) or None


def _divided(rest: str) -> tuple[str, str, str]:
    """`org/name`, whether `@` follows, and what comes after."""
    match = re.fullmatch(r"([^/@]+(?:/[^/@]+)?)(?:(@)(.*)|/(.*))?", rest)
    return (match[1], match[2] or "", match[3] or match[4] or "") if match else (rest, "", "")


def _is_address(model: str) -> bool:
    """Whether it begins with a scheme, or is as long as an address and begins with the Hub's host."""
    host, _, path = model.partition("/")
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", model)) or (host.lower() in _HOSTS and "/" in path)


def _segments(model: str) -> list[str]:
    """The segments of an address's path, still quoted.

    Raises:
        FetchError: BadName, it is of another host.
    """
    try:
        parts = urlsplit(model if "://" in model else f"https://{model}")
        if parts.scheme in ("http", "https"):
            if parts.hostname in _HOSTS:
                return [segment for segment in parts.path.split("/") if segment]
            hub = urlsplit(os.environ.get("HF_ENDPOINT", ""))
            if hub.hostname is not None and (parts.hostname, parts.port) == (hub.hostname, hub.port):
                path = parts.path.removeprefix(hub.path.rstrip("/"))
                return [segment for segment in path.split("/") if segment]
    except ValueError:  # what stands for a host or a port is none
        pass
    raise FetchError(
        "BadName",
        f"{public(model)} is an address elsewhere, not on huggingface.co or HF_ENDPOINT. Name a model as org/name.",
    )


def _page(model: str, segments: list[str]) -> tuple[str, str | None, str | None]:
    """Repo id, revision and subfolder of a page of the Hub."""
    kind = segments[0] if segments else ""
    _check_kind(model, kind)
    if kind == "models":
        segments = segments[1:]
    if not segments:
        raise FetchError("BadName", f"{public(model)} does not name a model. Write it as org/name.")
    # A few old repos have no organisation.
    length = 1 if len(segments) > 1 and segments[1] in _PAGES else 2
    repo, rest = unquote("/".join(segments[:length])).removesuffix(".git"), segments[length:]
    if not rest:
        return repo, None, None
    if rest[0] not in _PAGES:
        raise FetchError("BadName", f"{public(model)} is not a page of a model's files. Name a model as org/name.")
    revision, path = _revision("/".join(rest[1:]))
    return repo, revision, _folder(unquote(path), rest[0] in _FOLDERS)


def _check_kind(model: str, kind: str) -> None:
    if kind in _OTHERS:
        raise FetchError(
            "BadName", f"{public(model)} is {_OTHERS[kind]}; hfcount reads models. Name a model as org/name."
        )


def _revision(tail: str) -> tuple[str | None, str]:
    """`REV/path` as both; a slash in a revision is written %2F unless it is one of the Hub's own refs."""
    refs = re.match(_REFS, tail)
    revision, path = (refs[0], tail[refs.end() + 1 :]) if refs else tail.partition("/")[::2]
    return unquote(revision) or None, path


def _folder(path: str, is_folder: bool) -> str | None:
    """The folder of a repo that a path names, or that its file is in; None for the repo itself."""
    return (path if is_folder else path.rpartition("/")[0]).strip("/") or None
