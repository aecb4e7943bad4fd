"""The blueprints that were built last: fine-tunes and copies of one model often have the same config, byte for byte."""

from collections.abc import Callable
from threading import Lock

from hfcount.blueprints.blueprint import Blueprint

_MOST = 64
_NAMES = 200_000  # tensors of which names are kept, each some 150 bytes


def built(_raw: bytes, build: Callable[[], Blueprint]) -> Blueprint:
    """The default of `Options.blueprints`, which keeps none."""
    return build()


class RecentBlueprints:
    """Builds no blueprint of a config again that is among the last it has seen; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._built: dict[bytes, Blueprint] = {}  # the one that was used last comes last
        self._names: dict[bytes, int] = {}  # how many names of each are kept

    def __call__(self, raw: bytes, build: Callable[[], Blueprint]) -> Blueprint:
        """The blueprint of a config's bytes; raises as `build` does."""
        with self._lock:
            blueprint = self._built.pop(raw, None)
            self._names.pop(raw, None)
        if blueprint is None:
            blueprint = build()
        elif not blueprint.keep_names:
            blueprint = blueprint.replace(keep_names=blueprint.tensor_count <= _NAMES // 2)
        # What is wrong with a config is told with the place where it was read.
        if not (blueprint.problems or blueprint.other or blueprint.custom_code or blueprint.derived_with):
            count = int(blueprint.tensor_count) if blueprint.keep_names else 0
            with self._lock:
                self._built[raw], self._names[raw] = blueprint, count
                while len(self._built) > _MOST or sum(self._names.values()) > _NAMES:
                    oldest = next(iter(self._built))
                    del self._built[oldest], self._names[oldest]
        return blueprint
