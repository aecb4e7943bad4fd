"""Looks up how each version of transformers reads checkpoints of a type, as tests/tools/loaders.py recorded it."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hfcount.mapper import json_lines
from hfcount.record import Record
from hfcount.verifier.loaders import recorded

LIBRARY = "transformers"

_NUMBER = r"(?:(?<=\.)|^)\d+(?=\.|$)"  # compiled where it is first used


class Refused(NamedTuple):
    """A key with which a version refuses a config.

    Args:
        key: its full path.
        error: the error, in short.
        values: the values, or words of a list, that are refused; empty if all are.
    """

    key: str
    error: str
    values: tuple[Any, ...] = ()

    def holds(self, value: Any) -> bool:
        """Whether the config is refused where the key has this value."""
        if value is None or not self.values:
            return value is not None
        return any(word in self.values for word in (value if isinstance(value, list) else [value]))

    @property
    def shown(self) -> str:
        """The key, with the values that are refused."""
        return f"{self.key} = {' or '.join(map(str, self.values))}" if self.values else self.key


class Size(NamedTuple):
    """A size that a version reads under another key than the newest version writes.

    Args:
        written: that key, its full path.
        read: the key that is read instead, its full path.
        absent: its default there; None if other keys give the size.
    """

    written: str
    read: str
    absent: Any

    @property
    def shown(self) -> str:
        """The key that is read, with its default."""
        return self.read if self.absent is None else f"{self.read} ({self.absent} if absent)"


class Facts(Record):
    """How one version reads checkpoints of a type, where the newest version reads them otherwise.

    Args:
        auto: whether the auto classes know the type; its class alone opens it otherwise.
        classes: the model classes that can be imported.
        unnamed: further names of keys that the newest version takes, and this one does not.
        ties: those of them that tie a head to the embedding where the flag says so.
        renamed: by class, prefixes of stored names that are not read, each with the one that is wanted; * is every
            class, there without a leading "model.".
        wants: by class in the same way, names, numbers as {}, that are random if they are not stored.
        needs: keys without which a config is refused, full paths; "key=value" where it has to say that.
        refuses: keys by which a config is refused.
        sizes: sizes that are read under another key.
        rotary: kinds of rotary positions that are refused, by the form of their settings.
        nulls: keys that may be absent, and are refused where they are null.
        prefix: the name that it gives the base model in classes with a head.
        padded: whether an embedding is built with pad_token_id, which then needs a row.
        float32: endings of the names of parameters that stay in float32 in a model of bfloat16, numbers as {}.
        float16: the same for a model of float16, where more stay so; else empty.
        writes: by class, names, numbers as {}, that are saved though the newest version does not save them.
        omits: by class, names, numbers as {}, that are not saved though the newest version saves them.
        unknown: what was not found out, and why; empty if nothing.
    """

    auto: bool
    classes: frozenset[str]
    ties: frozenset[str]
    unnamed: tuple[str, ...]
    renamed: Mapping[str, tuple[tuple[str, str], ...]]
    wants: Mapping[str, tuple[str, ...]]
    needs: tuple[str, ...]
    refuses: tuple[Refused, ...]
    sizes: tuple[Size, ...]
    rotary: Mapping[str, str]
    nulls: tuple[str, ...]
    prefix: str
    padded: bool
    float32: tuple[str, ...]
    float16: tuple[str, ...]
    writes: Mapping[str, tuple[str, ...]]
    omits: Mapping[str, tuple[str, ...]]
    unknown: str

    def wanted(self, name: str, class_name: str) -> str | None:
        """The name that is wanted in place of a stored one that is not read; None if that is read."""
        for prefixes, bare in ((self.renamed.get(class_name, ()), name), *self._of_all(name)):
            for stored, wanted in prefixes:
                folded = re.sub(_NUMBER, "{}", bare) if "{}" in stored else bare
                if folded.startswith(stored) and (not folded.startswith(wanted) or stored.startswith(wanted)):
                    return name.removesuffix(bare) + wanted + folded.removeprefix(stored)
        return None

    def _of_all(self, name: str) -> list[tuple[tuple[tuple[str, str], ...], str]]:
        prefixes = self.renamed.get("*", ())
        return [(prefixes, bare) for bare in dict.fromkeys((name.removeprefix("model."), name))] if prefixes else []

    def random(self, class_name: str) -> tuple[str, ...]:
        """The names, numbers as {}, that are random in a class unless they are stored; a "model." may lead them."""
        return self.wants.get(class_name, self.wants.get("*", ()))

    def keeps_float32(self, name: str, half: bool = False) -> bool:
        """Whether the parameter that is saved under this name stays in float32 in a model of bfloat16.

        Args:
            half: whether it is a model of float16.
        """
        folded = f".{re.sub(_NUMBER, '{}', name)}"
        endings = self.float16 or self.float32 if half else self.float32
        return any(folded.endswith(f".{ending}") for ending in endings)

    def is_omitted(self, name: str, class_name: str) -> bool:
        """Whether a class does not save the tensor of this name, though in the newest version it does."""
        names = self.omits.get(class_name, self.omits.get("*", ()))
        return bool(names) and re.sub(_NUMBER, "{}", name) in names

    def written_besides(self, class_name: str) -> tuple[str, ...]:
        """The names, numbers as {}, that a class saves though in the newest version it does not."""
        return self.writes.get(class_name, self.writes.get("*", ()))

    @property
    def differences(self) -> list[str]:
        """The differences in phrases whose subject is the version; else what its one recorded run came to."""
        if self.unknown:
            return [f"is not known here: {self.unknown}"]
        renamed = dict.fromkeys(pair for pairs in self.renamed.values() for pair in pairs)
        phrases = [f"looks for {wanted} in place of {stored}" for stored, wanted in renamed]
        wants = dict.fromkeys(name for names in self.wants.values() for name in names)
        phrases += [f"leaves {name} random unless it is stored" for name in wants]
        phrases += [f"needs {key}" for key in self.needs]
        phrases += [f"refuses {refused.shown}: {refused.error}" for refused in self.refuses]
        phrases += [f"reads {size.shown} in place of {size.written}" for size in self.sizes]
        return phrases or ["loaded its recorded checkpoint whole"]


@lru_cache(256)
def facts(version: str, model_type: str) -> Facts | None:
    """How a version of transformers reads checkpoints of a type; None if it does not have the type.

    Args:
        version: one of `versions`.
        model_type: the type.

    Raises:
        KeyError: nothing is recorded of this version.
    """
    row = json_lines.of_kind(recorded.file(LIBRARY, version), model_type)
    if row is None:
        return None
    return Facts(
        auto=row.get("auto", True),
        classes=frozenset(row.get("classes", "").split()),
        ties=frozenset(row.get("ties", "").split()),
        unnamed=tuple(row.get("unnamed", "").split()),
        renamed=_by_class(row.get("renamed", {}), lambda pair: (str(pair[0]), str(pair[1]))),
        wants=_by_class(row.get("wants", {}), str),
        needs=tuple(row.get("needs", ())),
        refuses=tuple(Refused(key, error, *map(tuple, values)) for key, error, *values in row.get("refuses", ())),
        sizes=tuple(Size(*size) for size in row.get("sizes", ())),
        rotary=row.get("rotary", {}),
        nulls=tuple(row.get("nulls", "").split()),
        prefix=row.get("prefix", "model"),
        padded=row.get("padded", True),
        float32=tuple(row.get("float32", ())),
        float16=tuple(row.get("float16", ())),
        writes=_by_class(row.get("writes", {}), str),
        omits=_by_class(row.get("omits", {}), str),
        unknown=row.get("unknown", ""),
    )


def _by_class(rows: Mapping[str, list[Any]], read: Any) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(map(read, values)) for names, values in rows.items() for name in names.split()}


def versions() -> tuple[str, ...]:
    """The versions of transformers that are recorded, the oldest first."""
    return recorded.versions(LIBRARY)
