"""Configs of a type at random, for tests/tools/standins.py."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from standin_probes import Variants, is_words, value_at, with_value

from hfcount.architectures.recorded_rules import is_number

Json = dict[str, Any]


class Draws:
    """Draws configs that are built.

    Args:
        tries: how many configs there is time for until one is built.
    """

    def __init__(self, variants: Variants, tries: Callable[[], int]) -> None:
        self.variants, self.builder, self.random, self.tries = variants, variants.builder, variants.random, tries

    def joint(self, context: Json, large: bool = False, above: int = -1, left: Sequence[str] = ()) -> Json:
        """A config with all numbers changed that are above one, but for some, or as many as can be built."""
        paths = [
            path
            for path in self.variants.numbers()
            if is_number(now := value_at(context, path)) and now > above and path not in left
        ]
        paths += [
            f"{path}.{place}"
            for path in self.variants.paths
            if isinstance(value_at(context, path), list) and not isinstance(value_at(self.variants.base, path), list)
            for place, item in enumerate(value_at(context, path))
            if is_number(item)
        ]
        same: dict[tuple[Any, ...], list[str]] = {}
        apart = self.random.random() < 0.5
        for path in paths:  # sizes of parts that have to be the same ones stay so, half of the time
            *_, above, key = ("", *path.split("."))
            last = f"{above}.{key}" if key.isdecimal() else key
            same.setdefault((last, value_at(context, path), path if apart else ""), []).append(path)
        chosen = []
        for alike in self.random.sample(list(same.values()), len(same)):
            value = self.variants.sized(alike[0], self.usual(context, alike[0]), large)
            chosen += [(path, value) for path in alike]
        return self._as_many(context, chosen, self.tries())[0]

    def _as_many(self, values: Json, chosen: Sequence[tuple[str, Any]], tries: int) -> tuple[Json, int]:
        """A config with as many of these changes as are built, found by halving; and how many tries are left."""
        changed = values
        for path, value in chosen:
            if value_at(changed, path) is not None:
                changed = with_value(changed, path, value)
        if self.builder.probe(changed) is not None:
            return changed, tries
        if len(chosen) < 2 or tries <= 0:
            return values, tries
        half = len(chosen) // 2
        values, tries = self._as_many(values, chosen[:half], tries - 1)
        return self._as_many(values, chosen[half:], tries - 1)

    def usual(self, context: Json, path: str) -> Any:
        """The number of a key in the usual config, or in this one, if that has none."""
        usual = value_at(self.variants.base, path)
        return usual if is_number(usual) else value_at(context, path)

    def drawn(self, switches: Sequence[tuple[str, Any]]) -> Json:
        """A random config, with a few of the switches set."""
        values: Json = json.loads(json.dumps(self.variants.base))
        for path, value in self.random.sample(switches, min(self.random.choice((0, 0, 1, 1, 2, 3)), len(switches))):
            changed = with_value(values, path, value)
            values = changed if self.builder.probe(changed) else values
        values = self.joint(values) if self.random.random() < 0.8 else values
        if self.random.random() < 0.5:
            values = self.with_lists(values)
        if self.random.random() < 0.2:
            values = self._partly_saved(values)
        if self.random.random() < 0.3:
            values = self._without_some(values)
        return values

    def saved(self, values: Json) -> Json:
        """A config as its class saves it."""
        config = self.builder.config_class.from_dict(json.loads(json.dumps(values)))
        text = json.dumps(
            {key: value for key, value in config.to_dict().items() if key not in self.builder.common}, default=str
        )
        written: Json = json.loads(text)
        return written if self.builder.probe(written) else values

    def _partly_saved(self, values: Json) -> Json:
        """A config as its class saves it, or with some of what the class made, or without some of it."""
        written, share = self.saved(values), self.random.choice((0, 0.3, 0.7))
        for path in self.nulls():
            if self.random.random() < share:
                changed = with_value(written, path, value_at(values, path))
                written = changed if self.builder.probe(changed) else written
        return written

    def with_lists(self, values: Json) -> Json:
        """With the lists that the class would make, their words in any order."""
        made = self.builder.settings(values)
        for path in self.variants.paths if made else ():
            now = made.taken.get(path) if made else None
            if is_words(now):
                words = [self.random.choice(now) for _ in now]
                changed = with_value(values, path, words)
                values = changed if self.builder.probe(changed) else values
        return values

    def _without_some(self, values: Json) -> Json:
        changed: Json = json.loads(json.dumps(values))
        for key in list(changed):
            if self.random.random() < 0.2:
                del changed[key]
        return changed

    def nulls(self) -> list[str]:
        """The paths of declared keys that are null by default."""
        beside = self.builder.set_beside
        return [
            path for path in self.variants.paths if value_at(self.variants.base, path) is None and path not in beside
        ]
