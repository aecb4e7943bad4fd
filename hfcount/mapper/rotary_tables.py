"""What versions of transformers make of rotary settings (rotary.json, recorded by tests/tools/rotary.py)."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines
from hfcount.mapper.accepted_values import shared
from hfcount.mapper.class_defaults import declares

Values = Mapping[str, Any]
_SAYS = {
    "zero": "no object",
    "number": "a number, and no object",
    "no-text": "an empty text, and no object",
    "text": "text, and no object",
    "no-list": "an empty list, and no object",
    "list": "a list, and no object",
    "empty": "an empty object",
    "bare": "an object without rope_type",
    "rope_type": "an object whose rope_type is null",
    "type": "an object whose type is null",
}
_LABELS: Mapping[str, frozenset[str]] = {"deepseek_v4": frozenset({"main", "compress"})}
"""Names of entries that are no kinds of layers (transformers 5.24.0: configuration_deepseek_v4.py:186)."""

_TURNED = "qk_rope_head_dim"
"""The width of what is turned, which gives its share in older configs (5.24.0: configuration_deepseek_v4.py:286)."""

_LARGEST = 4
"""The largest width of a head that may be odd."""


class Kindless(NamedTuple):
    """Settings that name no kind of rotary positions.

    Args:
        key: that holds them.
        place: how tests/tools/loading_rotary.py calls it, by which keys there are.
        form: what they are, as it calls that.
    """

    key: str
    place: str
    form: str

    @property
    def says(self) -> str:
        """What they are, as the predicate of a sentence."""
        return _SAYS[self.form]


class RotaryTables(NamedTuple):
    """What a version makes of the rotary settings of a type.

    Args:
        unread: kinds of settings by form that change nothing.
        unscaled: kinds by form of which the base alone is read.
        refused: kinds by form that are refused.
        top: kinds for which original_max_position_embeddings counts where it stands at the top.
        typed: whether `type` of rope_scaling counts where rope_type beside it says another kind.
        odd: how an odd width of a head is refused: `given` as head_dim, or `divided` of hidden_size.
        kindless: what settings without a kind may not be, by place; None where that is not recorded.
        factors: how the number of entries is found that short_factor needs, as `odd` says it: `one`, if one may not
            stand for all, and `long`, if long_factor needs as many.
        share: of a head's features that is turned where no key says so.
    """

    unread: Mapping[str, str]
    unscaled: Mapping[str, str]
    refused: Mapping[str, str]
    top: frozenset[str]
    odd: frozenset[str]
    typed: bool = False
    kindless: Mapping[str, str] | None = None
    factors: frozenset[str] = frozenset()
    share: float = 1.0

    def refuses(self, settings: Kindless) -> bool:
        """Whether settings without a kind are refused; False where that is not recorded."""
        return settings.form in (self.kindless or {}).get(settings.place, "").split()

    def odd_width(self, values: Values, usual: Values) -> int | None:
        """The odd width of a head that is refused; None if there is none.

        Args:
            values: the config.
            usual: the defaults of absent keys.
        """
        width = _width(self.odd, values, usual)
        if width is None or width <= _LARGEST or width % 2 == 0:
            return None
        return width if all(int(width * share) == width for share in _shares(values, usual)) else None

    def uneven_factors(self, settings: Values, values: Values, usual: Values) -> Iterator[tuple[str, int]]:
        """The lists of factors that have not as many entries as are needed, by name, and how many that are.

        Args:
            settings: of rotary positions, of the kind longrope.
        """
        width = None if _TURNED in values and self.share != 1 else _width(self.factors, values, usual)
        shares = (
            {*_shares(values, {"partial_rotary_factor": self.share, **usual})} if width is not None else set[float]()
        )
        if width is None or len(shares) != 1:
            return
        needed = (int(width * shares.pop()) + 1) // 2
        for name in ("short_factor", *(["long_factor"] if "long" in self.factors else [])):
            count = len(settings[name]) if isinstance(settings.get(name), list) else needed
            # One factor counts for all, and several for one.
            if count != needed and ("one" in self.factors or (count != 1 and needed != 1)):
                yield name, needed


def _width(asked: frozenset[str], values: Values, usual: Values) -> int | None:
    """The width of a head by a key that is asked for it; None if it is not known, or not asked for."""
    width = values.get("head_dim", usual.get("head_dim"))
    if width is not None:
        return width if "given" in asked and type(width) is int else None
    size, heads = (values.get(key, usual.get(key)) for key in ("hidden_size", "num_attention_heads"))
    known = "divided" in asked and type(size) is int and type(heads) is int and heads > 0
    return size // heads if known else None


@lru_cache(256)
def rotary_tables(kind: str, version: str) -> RotaryTables:
    """What a version makes of the settings of a type; empty where nothing is recorded."""
    row = (json_lines.of_kind(_file(), kind) or {}).get(version, {})
    words = {name: frozenset(row.get(name, "").split()) for name in ("top", "odd", "factors")}
    pattern = row.get("kindless")
    return RotaryTables(
        row.get("unread", {}),
        row.get("unscaled", {}),
        row.get("refused", {}),
        **words,
        typed=row.get("typed", False),
        share=row.get("share", 1.0),
        kindless=None if pattern is None else _patterns()[pattern],
    )


def labels(values: Values, kind: str) -> frozenset[str]:
    """The names of entries that a class takes for settings of their own; empty if it has no kinds of layers."""
    if kind in _LABELS:
        return _LABELS[kind]
    return frozenset(shared("layer_types")) if "layer_types" in values or declares(kind, "layer_types") else frozenset()


def kindless(values: Values, kind: str, older: bool) -> Kindless | None:
    """The settings that a version reads, if they name no kind; None if they do, or if there are none.

    Args:
        kind: the model_type, or name, of the class of the config.
        older: whether version 4 reads them, which looks at rope_scaling alone.
    """
    old, new = values.get("rope_scaling"), None if older else values.get("rope_parameters")
    if not old and isinstance(new, dict) and not labels(values, kind).isdisjoint(new):
        return None
    if old is None or (not old and _form(new)):
        return Kindless("rope_parameters", "rope_parameters", _form(new)) if _form(new) else None
    place = "both" if isinstance(new, dict) and new else "rope_scaling"
    return Kindless("rope_scaling", place, _form(old)) if _form(old) else None


def _form(settings: Any) -> str:
    """What settings are that name no kind; empty if they do, or are absent."""
    if settings is None or (isinstance(settings, dict) and any(isinstance(item, dict) for item in settings.values())):
        return ""
    if isinstance(settings, int | float):
        return "number" if settings else "zero"
    if isinstance(settings, str | list):
        name = "text" if isinstance(settings, str) else "list"
        return name if settings else f"no-{name}"
    key = next((name for name in ("rope_type", "type") if name in settings), None)
    if key is None:
        return "bare" if settings else "empty"
    return key if settings[key] is None else ""


def rotary_forms(values: Values, usual: Values, older: bool) -> Iterator[tuple[str, str]]:
    """The form of the settings of rotary positions, as tests/tools/loading_rotary.py calls it, and their kind.

    Args:
        usual: the defaults of absent keys.
        older: whether version 4 reads them, which looks at rope_scaling alone.
    """
    new, old = (
        values.get(key) if isinstance(values.get(key), dict) else None for key in ("rope_parameters", "rope_scaling")
    )
    settings = old or (not older and new) or {}
    if _has_none(settings):
        return
    inner = next((value for value in settings.values() if isinstance(value, dict)), settings)
    kind = inner.get("rope_type", inner.get("type", "default"))
    if not isinstance(kind, str):
        return
    yield _form_among(old, new, inner is not settings), kind
    if values.get("head_dim", usual.get("head_dim", True)) is None:
        yield "headless", kind


def _form_among(old: Values | None, new: Values | None, nested: bool) -> str:
    """The form of settings by where they stand, and whether each kind of layers has its own."""
    if not old:
        return "nested" if nested else "rope_parameters"
    if nested:
        return "nested_scaling"
    form = "type" if "type" in old and "rope_type" not in old else "rope_scaling"
    flat = new and not any(isinstance(value, dict) for value in new.values())  # one by kind is as the class's own
    return "both" if flat and form == "rope_scaling" else form


def _has_none(settings: Values) -> bool:
    """Whether settings by kind of layer are null for each kind."""
    return settings.keys() <= {kind for kind in shared("layer_types") if settings.get(kind) is None}


def _shares(values: Values, usual: Values) -> Iterator[float]:
    """The shares of a head's features that are turned, by all settings that may say so."""
    settings = values.get("rope_scaling") or values.get("rope_parameters")
    places = [settings, *settings.values()] if isinstance(settings, dict) else []
    given = [
        place["partial_rotary_factor"]
        for place in places
        if isinstance(place, dict) and "partial_rotary_factor" in place
    ]
    beside = values.get("partial_rotary_factor", usual.get("partial_rotary_factor"))
    for share in given or [1.0 if beside is None else beside]:
        yield share if isinstance(share, int | float) else 0.0


@cache
def _patterns() -> list[Mapping[str, str]]:
    """What settings without a kind may not be, as the types have it that a number in their rows stands for."""
    patterns: list[Mapping[str, str]] = json_lines.of_all(_file())["kindless"]
    return patterns


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "rotary.json").read_bytes()
