"""What hfcount and transformers say of a folder, and where hfcount calls good what transformers does not load whole."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Literal

import torch
from loopback import Hub
from spoils import Spoil
from tiny import CONFIG, INDEX, Checkpoint, Json, State, class_of, quiet, raw

import hfcount

Way = Literal["auto", "index", "headers", "hub"]
"""A depth for the folder, or `hub`: the default depth for the folder as a repo."""

WAYS: tuple[Way, ...] = ("auto", "index", "headers", "hub")

FEWER, MORE = (64, 16), (1_024, 32)
"""Bytes by which a file may be too small or too large while its header is not read: for the file, for each tensor."""

SPARE = {"add_head", "change_class", "store_tied"}
"""Ways to spoil that may leave tensors over which the class does not have, if hfcount explains them."""

UNCOMPARED = ("headers do not say", "was not compared")
"""How findings say of what is stored twice that nobody has looked whether the values are the same."""


@dataclass(frozen=True)
class Said:
    """What hfcount says of a folder: a verdict or the name of its error, the depth that it looked to, and findings."""

    way: Way
    verdict: str
    depth: str | None = None
    codes: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether hfcount's exit code would be 0."""
        return self.verdict in ("verified", "explained")

    @property
    def bad(self) -> bool:
        """Whether hfcount's exit code would be 1."""
        return self.verdict in ("mismatch", "ConfigError", "DocumentError")

    def __str__(self) -> str:
        return f"{self.way}: {self.verdict} {' '.join(self.codes)}".rstrip()


@dataclass(frozen=True)
class Loaded:
    """What `from_pretrained` made of a folder: why it is broken, what it ignored, all tensors, and the model."""

    broken: str | None
    ignored: tuple[str, ...] = ()
    state: State = field(default_factory=dict)
    model: Any = None

    @property
    def whole(self) -> bool:
        """Whether nothing is missing and nothing left over."""
        return not (self.broken or self.ignored)


@dataclass(frozen=True)
class Fault:
    """A false green or a false alarm, over a checkpoint of this type that was spoilt in this way, or not at all."""

    what: Literal["false green", "false alarm"]
    type: str
    kind: str
    done: str
    said: Said
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.type}, {self.done}: {self.said}; {self.why}"


class Judge:
    """Asks hfcount and transformers of folders that it writes below `root`, and counts what it asked.

    `ways` are those in which it asks hfcount.
    """

    def __init__(self, root: Path, hub: Hub, ways: tuple[Way, ...] = WAYS) -> None:
        self.root, self.hub, self.ways = root, hub, ways
        self.asked: Counter[str] = Counter()

    def says(self, folder: Path) -> list[Said]:
        """hfcount's verdicts on a folder, one each way."""
        return [self._says(folder, way) for way in self.ways]

    def _says(self, folder: Path, way: Way) -> Said:
        self.asked["reports"] += 1
        try:
            if way == "hub":
                self.hub.reset()
                self.hub.publish("org/name", folder)
                report = hfcount.verify("org/name", cache=False)
            else:
                report = hfcount.verify(str(folder), depth=way)
        except hfcount.HfcountError as error:
            return Said(way, type(error).__name__, messages=(str(error),))
        codes = tuple(finding.code for finding in report.findings)
        return Said(way, report.verdict, report.depth, codes, tuple(finding.message for finding in report.findings))

    def loads(self, folder: Path, values: Json) -> Loaded:
        """Loads a folder as a user of transformers would, by the class that its config names."""
        self.asked["loads"] += 1
        with quiet():
            try:
                model, info = class_of(values).from_pretrained(folder, output_loading_info=True, local_files_only=True)
            except Exception as error:  # whatever stops it stops the user
                return Loaded(f"{type(error).__name__}: {str(error)[:200]}")
        ignored = tuple(sorted(info.pop("unexpected_keys")))
        wrong = {what: sorted(map(str, found))[:3] for what, found in info.items() if found}
        return Loaded(str(wrong) if wrong else None, ignored, model.state_dict(), model)

    def look(self, checkpoint: Checkpoint, ask: bool) -> tuple[list[Said], Loaded | None]:
        """Both opinions on a checkpoint; transformers' only where hfcount calls it good, or bad if that is asked."""
        with checkpoint.written(self.root / "checkpoint") as folder:
            said = [one for one in self.says(folder) if (one.good if ask else one.bad)]
            return said, self.loads(folder, checkpoint.config) if said else None


class Subject:
    """A checkpoint of a type as transformers saves it."""

    def __init__(self, name: str, checkpoint: Checkpoint, judge: Judge) -> None:
        self.name, self.checkpoint, self.judge = name, checkpoint, judge

    @cached_property
    def right(self) -> Loaded:
        """What transformers makes of it."""
        with self.checkpoint.written(self.judge.root / "right") as folder:
            return self.judge.loads(folder, self.checkpoint.config)

    def alarms(self, done: str) -> Iterator[Fault]:
        """Where hfcount calls it bad, and transformers loads it whole."""
        self.judge.asked["saved"] += 1
        bad, found = self.judge.look(self.checkpoint, ask=False)
        for said in bad if found and found.whole else ():
            if "HF103" not in said.codes or runs(found.model):  # a config of which a model is built that cannot run
                yield Fault("false alarm", self.name, "as saved", done, said, said.messages[0])

    def greens(self, kind: str, spoil: Spoil, rng: Random) -> Iterator[Fault]:
        """Where hfcount calls a spoilt copy good, and transformers misses, replaces, ignores or refuses something."""
        spoilt = self.checkpoint.copy()
        done = spoil(spoilt, rng)
        if done is None:
            return
        self.judge.asked["spoilt"] += 1
        good, found = self.judge.look(spoilt, ask=True)
        if found is None or not self.right.whole:
            return
        added = {name: one for name, one in spoilt.tensors.items() if name not in self.checkpoint.tensors}
        for said in good:
            # A tied weight with values of its own is loaded with these.
            why = found.broken or differences(found, self.right, added if "HF213" in said.codes else {})
            unread = said.depth == "index" and alike_outside(self.checkpoint, spoilt)
            admitted = not found.broken and any(words in text for words in UNCOMPARED for text in said.messages)
            spare = said.verdict == "explained" and kind in SPARE
            if why and not (unread or admitted):
                yield Fault("false green", self.name, kind, done, said, why)
            elif found.ignored and not (why or spare):
                yield Fault("false green", self.name, kind, done, said, f"ignored: {found.ignored[:3]}")


def differences(found: Loaded, right: Loaded, added: Mapping[str, torch.Tensor] = MappingProxyType({})) -> str | None:
    """Which values are not those of the model that was saved, whatever their dtype and the head around it.

    Those of `added` have to be what they are there.
    """
    bare = {name.partition(".")[2]: name for name in right.state} | {f"model.{name}": name for name in right.state}
    wrong = []
    for name, tensor in found.state.items():
        other = added.get(name, right.state.get(name, right.state.get(bare.get(name, ""))))
        there = other is not None and other.shape == tensor.shape and tensor.device.type != "meta"
        if not (there and torch.equal(tensor.to(torch.float64), other.to(torch.float64))):
            wrong.append(name)
    return f"other values: {wrong[:3]}" if wrong else None


def alike_outside(good: Checkpoint, spoilt: Checkpoint) -> bool:
    """Whether all but headers is as in a whole checkpoint of this config, sharded as the spoilt one's index says."""
    after = spoilt.contents()
    if spoilt.config != good.config or spoilt.index is None or INDEX not in after:
        return False
    tensors, weight_map, shards = good.tensors, spoilt.index["weight_map"], dict[str, State]()
    if weight_map.keys() != tensors.keys():
        return False
    for name, file in weight_map.items():
        shards.setdefault(file, {})[name] = tensors[name]
    total_size = sum(tensor.nbytes for tensor in tensors.values())
    if spoilt.index["metadata"].get("total_size") != total_size or after.keys() != {*shards, CONFIG, INDEX}:
        return False
    for file, content in shards.items():
        more, many = len(after[file]) - len(raw(content)), len(content)
        if not -FEWER[0] - FEWER[1] * many <= more <= MORE[0] + MORE[1] * many:
            return False
    return True


def runs(model: Any) -> bool:
    """Whether a model that reads token ids and nothing else computes anything."""
    if model.main_input_name != "input_ids" or model.config.get_text_config() is not model.config:
        return False
    with quiet(), torch.no_grad():
        try:
            model.eval()(input_ids=torch.tensor([[1, 2, 3, 4]]))
        except Exception:  # whatever stops it
            return False
    return True
