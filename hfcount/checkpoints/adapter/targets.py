"""Selects the modules and parameters that an adapter targets, by the rules of PEFT.

Source: peft 0.21, tuners/tuners_utils.py.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from warnings import catch_warnings, simplefilter

from hfcount.checkpoints.adapter.modules import ModuleSet
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.quantization.automaton import LENGTH, Automaton, Unreadable
from hfcount.quantization.expressions import Expression, TooLong
from hfcount.text import printable
from hfcount.verifier.loaders.labels import PEFT

ALL_LINEAR = "all-linear"
_PATHS = 150_000  # modules that are looked at one by one
_WORK = 10_000_000  # characters and states of patterns
_PATTERNS = 300
_PLAIN = re.compile(r"[\w.-]*")


class Unread(Exception):
    """Settings that are beyond what is read.

    Args:
        reason: which, and why.
        kind: that in one word.
    """

    def __init__(self, reason: str, kind: str = "PatternUnread") -> None:
        super().__init__(reason)
        self.kind = kind


class Refused(Exception):
    """Settings that PEFT refuses for this base; the argument says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A module to adapt, by its full path."""

    path: str
    module: ModuleSet


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter to adapt.

    Args:
        path: of its module.
        name: its own.
        shape: in elements.
        inside: what stands between the path and the names of what is added, with a final dot.
        bias: the outputs, where it has a bias; None if it has none.
    """

    path: str
    name: str
    shape: tuple[int, ...]
    inside: str
    bias: int | None


@dataclass(slots=True)
class Patterns:
    """Patterns of PEFT's settings, matched without backtracking and within bounds; raises Unread beyond them."""

    _known: dict[str, Automaton | Expression] = field(default_factory=dict)
    _work: int = 0

    def matches(self, pattern: str, path: str, key: str) -> bool:
        """Whether a regular expression matches a whole path; `key` is the setting that it is from.

        Raises:
            Refused: it is no regular expression of Python's.
        """
        compiled = self._known.get(pattern)
        if compiled is None:
            compiled = self._known[pattern] = _compiled(pattern, key)
        before = compiled.work
        try:
            hit = compiled.matches(path)
        except TooLong:
            raise Unread(f"{key} takes too long to match") from None
        self._work += compiled.work - before + len(path)
        if self._work > _WORK or len(self._known) > _PATTERNS:
            raise Unread(f"{key} takes too long to match")
        return hit


def _compiled(pattern: str, key: str) -> Automaton | Expression:
    """A pattern that can be matched in bounded time; raises Refused or Unread if there is none."""
    if len(pattern) <= LENGTH and (problem := _malformed(pattern)):
        raise Refused(f"{key} is not a valid regular expression ({printable(problem, 100)}): {PEFT} raises re.error")
    try:
        return Automaton(pattern, full=True)
    except Unreadable:
        pass
    try:
        return Expression(pattern, _WORK)
    except (Unreadable, RecursionError):
        text = f"hfcount cannot evaluate the regular expression in {key}: {printable(pattern, 100)}"
        raise Unread(text) from None


def _malformed(pattern: str) -> str:
    """Why Python does not compile a pattern; empty if it does."""
    with catch_warnings():
        simplefilter("ignore")
        try:
            re.compile(pattern)
        except re.error as error:
            return str(error)
        except (OverflowError, RecursionError) as error:
            return type(error).__name__
    return ""


@dataclass(frozen=True, slots=True)
class ChosenModules:
    """The modules and parameters that the settings select.

    Args:
        targets: the modules to adapt.
        parameters: the parameters to adapt.
        unmatched: names that match nothing.
    """

    targets: Sequence[Target]
    parameters: Sequence[Parameter]
    unmatched: tuple[str, ...]


def choose(settings: Settings, modules: Sequence[ModuleSet], patterns: Patterns) -> ChosenModules:
    """The modules and parameters that the settings name.

    Raises:
        Unread: a pattern cannot be simulated, or there are too many modules.
    """
    chooser = _Chooser(settings, modules, patterns)
    targets = list(chooser.targets())
    parameters = list(chooser.parameters())
    return ChosenModules(targets, parameters, chooser.unmatched())


class _Chooser:
    def __init__(self, settings: Settings, modules: Sequence[ModuleSet], patterns: Patterns) -> None:
        self._settings, self._modules, self._patterns = settings, modules, patterns
        self._targets = settings.targets
        self._listed = frozenset(self._targets) if isinstance(self._targets, tuple) else frozenset()
        self._used: set[str] = set()
        self._left = _PATHS
        self._folded = not any(segment.isdecimal() for name in self._listed for segment in name.split("."))

    def targets(self) -> Iterator[Target]:
        """The modules to adapt."""
        if not self._targets:
            return
        for module in self._modules:
            for path in self._paths(module):
                if self._matches(path, module):
                    yield Target(path, module)

    def _paths(self, module: ModuleSet) -> Iterable[str]:
        """Every path of a module; none if its first settles that no list names it."""
        if isinstance(self._targets, tuple) and self._folded and self._listed.isdisjoint(ends(module.first)):
            return ()
        self._left -= module.count
        if self._left < 0:
            raise Unread(f"target_modules are looked for in more than {_PATHS:,} modules")
        return module.paths()

    def _matches(self, path: str, module: ModuleSet) -> bool:
        settings = self._settings
        if isinstance(self._targets, str) and self._targets.lower() == ALL_LINEAR:
            hit = module.kind in ("linear", "transposed") and not module.head
        elif isinstance(self._targets, str):
            hit = self._patterns.matches(self._targets, path, "target_modules")
        else:
            used = [end for end in ends(path) if end in self._listed]
            hit = bool(used) and (path in self._listed or self._in_layers(path))
            self._used.update(used if hit else ())
        return hit and not left_out(settings, path, self._patterns)

    def _in_layers(self, path: str) -> bool:
        """Whether the module is in one of `layers_to_transform`."""
        layers = self._settings.layers
        if layers is None:
            return True
        layer = self._layer(path)
        return layer is not None and layer in layers

    def _layer(self, path: str) -> int | None:
        segments = path.split(".")
        patterns = self._settings.layers_patterns
        for pattern in patterns:
            if not _PLAIN.fullmatch(pattern):
                raise Unread(
                    f"hfcount cannot evaluate the regular expression in layers_pattern: {printable(pattern, 100)}"
                )
            before = pattern.split(".")
            for place in range(len(segments) - len(before) - 1):
                number = segments[place + len(before)]
                if segments[place : place + len(before)] == before and number.isdecimal():
                    return int(number)
        if patterns:
            return None
        return next((int(number) for number in segments[2:-1] if number.isdecimal()), None)

    def parameters(self) -> Iterator[Parameter]:
        """The parameters to adapt; those of one module are nested, the first of them innermost."""
        wanted = frozenset(self._settings.parameters)
        if not wanted:
            return
        for module in self._modules:
            named = [name for name in module.tensors if name != "bias" or len(module.tensors[name]) > 1]
            for path in module.paths() if named else ():
                self._left -= 1
                if self._left < 0:
                    raise Unread(f"target_parameters are looked for in more than {_PATHS:,} modules")
                hits = [(name, used) for name in named if (used := [e for e in ends(f"{path}.{name}") if e in wanted])]
                for place, (name, used) in enumerate(hits):
                    self._used.update(used)
                    bias = module.tensors.get(f"{name}_bias", (None,))[-1]
                    inside = "base_layer." * (len(hits) - 1 - place)
                    yield Parameter(path, name, module.tensors[name], inside, bias)

    def unmatched(self) -> tuple[str, ...]:
        """Names of lists that match nothing."""
        return tuple(sorted({*self._listed, *self._settings.parameters} - self._used))


def ends(path: str) -> list[str]:
    """The path, and what follows each of its dots."""
    result, place = [path], path.find(".")
    while place >= 0:
        result.append(path[place + 1 :])
        place = path.find(".", place + 1)
    return result


def left_out(settings: Settings, path: str, patterns: Patterns) -> bool:
    """Whether `exclude_modules` or `modules_to_save` takes a module out."""
    exclude = settings.exclude
    if isinstance(exclude, str) and exclude and patterns.matches(exclude, path, "exclude_modules"):
        return True
    if isinstance(exclude, tuple) and not set(exclude).isdisjoint(ends(path)):
        return True
    return any(_within(name, path, patterns) for name in settings.saved)


def _within(name: str, path: str, patterns: Patterns) -> bool:
    if _PLAIN.fullmatch(name):
        return f".{name}." in f".{path}."
    return patterns.matches(rf"(^|.*\.){name}($|\..*)", path, "modules_to_save")


class Ranks:
    """The rank of each module: that of the first key of `rank_pattern` that matches its path."""

    def __init__(self, settings: Settings, patterns: Patterns) -> None:
        self._ranks, self._patterns = settings.ranks, patterns
        self._plain = {key: place for place, key in enumerate(settings.ranks) if _PLAIN.fullmatch(key)}
        self._others = [(place, key) for place, key in enumerate(settings.ranks) if key not in self._plain]

    def of(self, path: str, default: int) -> int:
        """The rank of the module or parameter at a path."""
        hits = [(self._plain[end], end) for end in ends(path) if end in self._plain]
        before = min(hits)[0] if hits else len(self._ranks)
        for place, key in self._others:
            if place < before and self._patterns.matches(rf"(.*\.)?({key})", path, "rank_pattern"):
                hits.append((place, key))
                break
        rank = self._ranks[min(hits)[1]] if hits else default
        return rank if isinstance(rank, int) and not isinstance(rank, bool) else default
