"""Says which generation settings each recorded version of transformers refuses while it loads a model.

transformers, generation/configuration_utils.py, GenerationConfig.validate: 4.57.1:528, 5.23.0:648, 5.24.0:648.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.fetcher.layout import CONFIG, GENERATION
from hfcount.formats.json import Document, parse_value
from hfcount.mapper import json_lines
from hfcount.mapper.class_defaults import declares
from hfcount.text import shown
from hfcount.verifier.loaders.loader import Checkpoint

_FORCED = ("forced_bos_token_id", "forced_eos_token_id")
_SCHEMES = ("selfhash", "lefthash")
_ARGUMENT = frozenset(("self",))
"""What is refused even where settings that have no meaning are left out."""
_NULL = object()
"""Stands for a document that holds null."""
_MARKS = frozenset(("greenlist_ratio", "bias", "hashing_key", "seeding_scheme", "context_width"))

Values = Mapping[str, Any]


class _Version(NamedTuple):
    """What tests/tools/generation.py records of a version, which has the fields."""

    caches: frozenset[str]
    defaults: Values
    refused: frozenset[str]
    popped: frozenset[str]
    classes: frozenset[str]
    older: bool


class RefusedSetting(NamedTuple):
    """A setting that is refused: the file, the key (empty if it is the whole document), the value, what is needed."""

    file: str
    key: str
    value: Any
    needed: str

    @property
    def says(self) -> str:
        """A sentence part whose subject is the version."""
        if not self.key:
            return f"refuses {self.file}, which must be {self.needed}"
        return f"refuses {self.key} in {self.file}, which is {shown(self.value)} and must be {self.needed}"


def refusals(version: str, checkpoint: Checkpoint) -> Iterator[RefusedSetting]:
    """The settings with which a version does not load a checkpoint, in the order in which it looks at them."""
    known = _recorded(version)
    if known is None or checkpoint.class_name not in known.classes:
        return
    values = {key: value for key, value in checkpoint.values.items() if value is not None}
    settings = _document(checkpoint.companions.get(GENERATION))
    # Version 5 makes settings of the whole config.json only where there are no others.
    falls_back = (
        not known.older and settings is None and (GENERATION in checkpoint.companions or _is_absent(checkpoint))
    )
    kept = (
        values
        if falls_back
        else {key: value for key, value in values.items() if not _is_popped(known, checkpoint, key)}
    )
    for key, needed in _checked(known, kept):
        yield RefusedSetting(CONFIG, key, kept[key], needed)
    if settings is None:
        return
    if not isinstance(settings, Mapping):
        yield RefusedSetting(GENERATION, "", settings, "an object")
        return
    for key in settings.keys() & (_ARGUMENT if settings.get("_from_model_config") else known.refused):
        yield RefusedSetting(GENERATION, key, settings[key], "absent: transformers has a meaning of its own for it")
    for key, needed in (*_checked(known, settings), *_shown(settings)):
        yield RefusedSetting(GENERATION, key, settings[key], needed)


def _document(document: Document | None) -> Any:
    """What the file of settings holds; None if there is none, or it cannot be read, which transformers passes over."""
    if document is not None:
        with suppress(DocumentError):
            value = parse_value(document, endless=True)
            return _NULL if value is None else value
    return None


def _is_absent(checkpoint: Checkpoint) -> bool:
    return bool(checkpoint.files) and GENERATION not in checkpoint.files


def _is_popped(known: _Version, checkpoint: Checkpoint, key: str) -> bool:
    return key in known.popped and not declares(checkpoint.model_type, key)


def _checked(known: _Version, settings: Values) -> Iterator[tuple[str, str]]:
    """The keys of settings that are refused, and what they have to hold; all of them are in the settings."""
    for key, check in _CHECKS.items():
        if key in settings and (needed := check(known, settings[key])) is not None:
            yield key, needed
            return
    yield from _sequences(known, settings)
    if not known.older:
        yield from _suppressed(settings)


def _early_stopping(known: _Version, value: Any) -> str | None:
    words = (True, False, "never") if known.older else (None, True, False, "never")
    return None if _hashable(value) and value in words else 'true, false or "never"'


def _max_new_tokens(known: _Version, value: Any) -> str | None:
    return None if value is None or (_is_number(value) and not value <= 0) else "a number above 0"


def _weight(known: _Version, value: Any) -> str | None:
    taken = known.older or value is None or (_is_number(value) and 0 < value < 1)
    return None if taken else "above 0 and below 1"


def _pad_token_id(known: _Version, value: Any) -> str | None:
    return None if value is None or _is_number(value) else "a number"


def _cache(known: _Version, value: Any) -> str | None:
    taken = value is None or (isinstance(value, str) and value in known.caches)
    return None if taken else f"one of {', '.join(sorted(known.caches))}"


def _compile_config(known: _Version, value: Any) -> str | None:
    return None if value is None else "absent: transformers takes no object of JSON for it"


def _watermark(known: _Version, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not _MARKS.issuperset(value):
        return f"an object with no keys but {', '.join(sorted(_MARKS))}"
    ratio, width = value.get("greenlist_ratio", 0.25), value.get("context_width", 1)
    if value.get("seeding_scheme", _SCHEMES[0]) not in _SCHEMES:
        return f"an object whose seeding_scheme is {' or '.join(_SCHEMES)}"
    if not _is_number(ratio) or not 0 <= ratio <= 1:
        return "an object whose greenlist_ratio is at least 0 and at most 1"
    return None if _is_number(width) and width >= 1 else "an object whose context_width is at least 1"


_CHECKS: Mapping[str, Callable[[_Version, Any], str | None]] = {
    "watermarking_config": _watermark,
    "early_stopping": _early_stopping,
    "max_new_tokens": _max_new_tokens,
    "assistant_ensemble_weight": _weight,
    "pad_token_id": _pad_token_id,
    "cache_implementation": _cache,
    "compile_config": _compile_config,
}


def _sequences(known: _Version, settings: Values) -> Iterator[tuple[str, str]]:
    """The number of sequences, which is at most that of the beams, or 1 where the best word is always taken."""
    key = "num_return_sequences"
    many, beams, samples = (settings.get(name, known.defaults.get(name)) for name in (key, "num_beams", "do_sample"))
    if many == 1 or (not known.older and (many is None or (_is_number(many) and many < 1))):
        return
    if not known.older and not _is_number(many):
        yield key, "a number"
    elif beams == 1 or (beams is None and not known.older):
        if samples is False or not (samples or known.older):
            yield key, "1, as there are no beams and do_sample is not true"
    elif not _is_number(many) or not _is_number(beams):
        yield key, "a number, as num_beams"
    elif many > beams:
        yield key, f"at most num_beams, {shown(beams)}"


def _shown(settings: Values) -> Iterator[tuple[str, str]]:
    """Settings of which transformers makes no text, which it does with all that it reads."""
    flags = settings.get("extra_output_flags", ())
    if settings.get("return_dict_in_generate") is not True and not isinstance(flags, str | list | tuple | Mapping):
        yield "extra_output_flags", "a list"
    for key, value in settings.items():
        if key == "dtype" and not _is_dtype(value):
            yield key, "a text"
        elif isinstance(value, Mapping) and not _has_dtypes(value):
            yield key, "an object whose dtype is a text"


def _has_dtypes(settings: Values) -> bool:
    nested = (value for value in settings.values() if isinstance(value, Mapping))
    return _is_dtype(settings.get("dtype")) and all(map(_has_dtypes, nested))


def _is_dtype(value: Any) -> bool:
    """Whether a value is a dtype's name, or of a form that transformers takes the last part of as one."""
    return value is None or isinstance(value, str) or "." in str(value)


def _suppressed(settings: Values) -> Iterator[tuple[str, str]]:
    """Tokens that are forced and suppressed at once."""
    listed = settings.get("suppress_tokens")
    if listed is None:
        return
    tokens = _as_set(listed)
    if tokens is None:
        yield "suppress_tokens", "a list of numbers"
        return
    for name in _FORCED:
        value = settings.get(name)
        forced = {value} if isinstance(value, int) else set[Any]() if value is None else _as_set(value)
        if forced is None:
            yield name, "a number, or a list of numbers"
        elif forced and forced <= tokens:
            yield name, "a token that suppress_tokens does not have"


def _as_set(value: Any) -> set[Any] | None:
    """The entries of a list, or of what Python takes for one; None if it takes none."""
    if isinstance(value, str | Mapping) or (isinstance(value, list) and all(map(_hashable, value))):
        return set(value)
    return None


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)  # true is 1


@cache
def _recorded(version: str) -> _Version | None:
    row = json_lines.of_kind((Path(__file__).parent / "generation.json").read_bytes(), version)
    if row is None:
        return None
    words = {name: frozenset(row[name].split()) for name in ("caches", "refused", "popped", "classes")}
    return _Version(**words, defaults=row["defaults"], older=version.startswith("4."))
