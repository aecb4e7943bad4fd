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
    """

    kind: str
    code: str
    parts: tuple[Entry, ...]
    absent: tuple[str, ...]
    settings: Mapping[str, Any]


def read_pipeline(document: Document) -> PipelineIndex:
    """The pipeline that a model_index.json describes.

    Raises:
        DocumentError: it is no JSON object, names no class, or lists more parts than are read.
    """
    values = parse_object(document)
    kind, code = _kind(document, values.get("_class_name"))
    pairs = {name: value for name, value in values.items() if _NAME.fullmatch(name) and _is_pair(value)}
    parts = tuple(Entry(name, *value) for name, value in pairs.items() if value[0] is not None)
    if len(parts) > MOST:
        raise DocumentError(
            f"{document.where} lists {len(parts):,} parts; at most {MOST} are read.", key=parts[-1].name
        )
    absent = tuple(name for name, value in pairs.items() if value[0] is None)
    settings = {name: value for name, value in values.items() if name[:1] != "_" and name not in pairs}
    return PipelineIndex(kind, code, parts, absent, settings)


def _kind(document: Document, value: Any) -> tuple[str, str]:
    """The class of the pipeline, and the file of the repo that has it."""
    if isinstance(value, str) and value:
        return value, ""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) and one for one in value):
        return value[1], f"{value[0]}.py"
    said = f"{document.where} has {shown(value)} for _class_name, and must name the class of the pipeline."
    raise DocumentError(said, key="_class_name", fix="Name it, such as StableDiffusionPipeline, or save it again.")


def _is_pair(value: Any) -> bool:
    """Whether a value is [library, class], or [null, null] for a part that the pipeline goes without."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return value[0] is None or all(isinstance(one, str) and one for one in value)
