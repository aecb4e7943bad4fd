"""model_index.json of diffusers: the class of a pipeline, and the library and class of each of its parts."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object
from hfcount.text import printable, shown

MOST = 100
"""Parts of a pipeline that are looked at."""

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)  # of an argument of a Python function, and of a folder
_WEIGHTLESS = re.compile(r"\w*(Tokenizer|TokenizersBackend|Backend|Scheduler|Processor|Extractor)(Fast|Pil)?")


class Entry(NamedTuple):
    """A part as the index lists it: its name, which is its folder's, the library of its class, and the class."""

    name: str
    library: str
    kind: str

    @property
    def weightless(self) -> bool:
        """Whether parts of this class hold no weights, but settings or vocabularies."""
        return _WEIGHTLESS.fullmatch(self.kind) is not None

    @property
    def by(self) -> str:
        """What messages call its class."""
        return f"{printable(self.kind, 60)} of {printable(self.library, 60)}"


class PipelineIndex(NamedTuple):
    """What a model_index.json says.

    Args:
        kind: the class of the pipeline.
        code: the file of the repo that has this class; empty for one of diffusers.
        parts: those that are to be loaded, in the order of the index.
        absent: names that the index gives no class, as `[null, null]`.
        settings: what else it gives the class.
        version: of diffusers, that has written it; empty where it says none.
    """

    kind: str
    code: str
    parts: tuple[Entry, ...]
    absent: tuple[str, ...]
    settings: Mapping[str, Any]
    version: str = ""


def read_pipeline(document: Document) -> PipelineIndex:
    """The pipeline that a model_index.json describes.

    Raises:
        DocumentError: it is no JSON object, names no class, or lists more parts than are read.
    """
    values = parse_object(document, endless=True)
    unset = values.get("_use_default_values")
    values = {name: value for name, value in values.items() if not (isinstance(unset, list) and name in unset)}
    kind, code = _kind(document, values.get("_class_name"))
    named = {name: value for name, value in values.items() if _NAME.fullmatch(name)}
    absent = tuple(name for name, value in named.items() if isinstance(value, list) and value and value[0] is None)
    pairs = {name: value for name, value in named.items() if _is_pair(value)}
    parts = tuple(Entry(name, pair[0], pair[1].removeprefix("FlashPack")) for name, pair in pairs.items())
    if len(parts) > MOST:
        raise DocumentError(
            f"{document.where} lists {len(parts):,} parts; at most {MOST} are read.", key=parts[-1].name
        )
    others = values.keys() - pairs.keys() - set(absent)
    settings = {key: value for key, value in values.items() if key[:1] != "_" and key in others}
    version = values.get("_diffusers_version")
    return PipelineIndex(kind, code, parts, absent, settings, version if isinstance(version, str) else "")


def _kind(document: Document, value: Any) -> tuple[str, str]:
    """The class of the pipeline, and the file of the repo that has it."""
    if isinstance(value, str) and value:
        return value, ""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(item, str) and item for item in value):
        return value[1], f"{value[0]}.py"
    text = f"{document.where} has {shown(value)} for _class_name, but must name the class of the pipeline."
    raise DocumentError(text, key="_class_name", fix="Name it, such as StableDiffusionPipeline, or save it again.")


def _is_pair(value: Any) -> bool:
    """Whether a value is [library, class]."""
    return isinstance(value, list) and len(value) == 2 and all(isinstance(item, str) and item for item in value)
