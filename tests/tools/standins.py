"""Records what a type builds, for types that no family describes: `python tests/tools/standins.py TYPE [CLASS ...]`.

Models are built on the meta device (extra `oracle`) with each key of the config changed, alone, in pairs and all
together; the names are folded, and every extent and every number of layers becomes an expression over keys that holds
for all of them. Then configs are drawn at random until none is answered wrongly. It writes
hfcount/architectures/recorded/TYPE.json, which answers where everything was probed, and nowhere else. `--config FILE`
gives a config that is built, for a class that is not built of its defaults.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from record import usual_class
from standin_draws import Draws
from standin_effects import SMALL, Effects
from standin_fits import Values
from standin_keys import about_keys, folded, one_of_each, shortened, used_keys
from standin_lessons import Lessons
from standin_probes import Builder, Observed, Probe, Variants, value_at, with_value, with_values
from standin_replaced import Replaced
from standin_rows import rows

from hfcount.architectures.recorded_rules import OTHERS, UNRESOLVED, Unprobed, is_number, state
from hfcount.architectures.stand_ins import FOLDER, StandIn, flattened
from hfcount.architectures.stand_ins import rows as predicted_rows
from hfcount.mapper.keys_without_shape import is_shapeless

Json = dict[str, Any]

_ROUNDS = 6
_DRAWN = 40
_SECONDS = 45
"""Of the processor's time, after which no further round begins."""
_JOINT = 40
_FULL = 3
_SIZES_ALONE = 12
"""Configs of which the small numbers stay as they are."""
_WITH_PUZZLES, _MOST_PUZZLES = 2, 8
"""In how many rounds contexts that follow no rule are probed further, and how many of them."""
_WITHOUT_EFFECT = 2
_UNUSUAL = 2
_AGAIN = 2
"""How often all is learnt anew of configs that were answered wrongly, before rows are refused in more of them."""
_COMPACT = (",", ":")
_MOST_EQUAL = 8
_ZEROS = 2
_MOST_NEEDED = 6
"""Keys that change something only together, and how many such sets are probed further."""
_IN_CONTEXT, _LEAST_IN_CONTEXT = 6, 2
_SECONDS_IN_CONTEXTS, _TRIES = 30, 2
_LEAST_HALVED, _MOST_HALVED, _SECONDS_HALVED = 6, 24, 1.0
"""For configs with other numbers of all contexts; how many are tried until one is built, and for how long."""
_SECONDS_IN_PAIRS = 60
"""After which switches that have no effect alone are not tried in further contexts."""


def _changed(one: Probe, other: Probe) -> set[str] | None:
    """The names, without numbers, of the tensors whose shapes differ; None if there are others in one of the two."""
    if folded(one) != folded(other):
        return None
    mine, theirs = set((one.tensors or {}).items()), set((other.tensors or {}).items())
    return {re.sub(r"\d+", "#", name) for name, _ in mine ^ theirs}


def _odd(one: Observed, other: Observed) -> set[str]:
    """The tensors that are not alike."""
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


def _paths(items: Iterable[tuple[str, Any]]) -> set[str]:
    return {path for path, _ in items}


class Recorder:
    """Probes one class and learns what it builds; of an example, where it is not built of its defaults."""

    def __init__(
        self, model_type: str, architecture: str, seed: int = 0, log: bool = False, example: Json | None = None
    ) -> None:
        self.builder = Builder(model_type, architecture, example)
        self.variants = Variants(self.builder, seed, example)
        self.draws = Draws(self.variants, self._tries)
        self.random, self.log = self.variants.random, log
        self.probes: dict[str, Probe] = {}
        self.switches: list[tuple[str, Any]] = []
        self.known: StandIn | None = None
        self.learnt_from = 0
        self.puzzles: set[int] = set()
        self.needed: list[list[tuple[str, Any]]] = []
        self.wrongly: list[tuple[Json, set[str]]] = []
        self.values = Values()
        self.started, self.spent = time.monotonic(), time.process_time()

    def say(self, text: str) -> None:
        """Prints how far it is."""
        if self.log:
            print(f"  {time.monotonic() - self.started:6.1f} s, {self.builder.built} built: {text}", file=sys.stderr)

    def add(self, values: Json) -> Probe | None:
        """Builds a config, and keeps it as a probe if it is built, and its lists are as long as they should be."""
        probe = self.builder.probe(values) if self.variants.has_length(values) else None
        if probe is not None:
            self.probes[json.dumps(values, sort_keys=True)] = probe
        return probe

    def record(self) -> StandIn:
        """What was learnt, after random configs are answered rightly or not at all."""
        self.gather()
        turn, quiet, before = 0, 0, _DRAWN
        while quiet < 2 and turn < _ROUNDS and (turn < 2 or time.process_time() - self.spent < _SECONDS):
            self.known, turn = self.learnt(), turn + 1
            if self.puzzles and turn <= _WITH_PUZZLES:
                self._vary_puzzles()
                self.known = self.learnt()
            wrong, unknown, right = self.draw()
            quiet = quiet + 1 if not wrong and unknown <= _DRAWN // 10 else 0
            self.say(f"round {turn}: {right} right, {unknown} not known, {wrong} wrong; {len(self.known.rows)} rows")
            if unknown > _DRAWN // 2 and unknown >= before - _DRAWN // 8:  # more probes do not help
                break
            before = unknown
        self.known = self.learnt()
        again = 0
        while self.draw()[0]:
            again += 1
            if again > 3 * _AGAIN:  # what is wrong is in no row
                return self.known.replace(rows=[(name, kind, UNRESOLVED) for name, kind, _ in self.known.rows])
            self.known = self.learnt() if again <= _AGAIN else self._refused(self.known, again > 2 * _AGAIN)
        return self.known

    def _vary_puzzles(self) -> None:
        """Probes other numbers where what was built follows no rule yet."""
        probes = list(self.probes.values())
        contexts = {
            json.dumps({key: state(value) for key, value in probes[place].given.items()}): probes[place].values
            for place in sorted(self.puzzles)
        }
        for values in self.random.sample(list(contexts.values()), min(len(contexts), _MOST_PUZZLES)):
            least = values if self._is_odd(self.variants.base) else self._reduced(values)
            changed = self._changed_numbers(least)
            for turn in range(_IN_CONTEXT):  # what makes it odd stays, half of the time
                self.add(self.draws.joint(least, left=changed if turn % 2 else ()))
            for path in changed:
                self.add(with_value(least, path, self.variants.sized(path, self.draws.usual(least, path))))
        self.say(f"{len(self.puzzles)} probes follow no rule, {len(contexts)} contexts of them probed further")

    def _is_odd(self, values: Json) -> bool:
        """Whether a config is built otherwise than is known, or what it builds is not known."""
        probe = self.builder.probe(values)
        if probe is None or self.known is None:
            return False
        try:
            return predicted(self.known, values) != probe.tensors
        except Unprobed:
            return True

    def _reduced(self, values: Json) -> Json:
        """A config that is odd, with all that does not make it so as it usually is."""
        for path, value in flattened(self.variants.base, self.builder.parts):
            if value_at(values, path) != value:
                changed = with_value(values, path, value)
                values = changed if self._is_odd(changed) else values
        self.add(values)
        for path, value in flattened(self.variants.base, self.builder.parts):  # each shows what bears on what is odd
            if value_at(values, path) != value:
                self.add(with_value(values, path, value))
        return values

    def _changed_numbers(self, values: Json) -> list[str]:
        """The paths of numbers that are not the usual ones."""
        usual = self.variants.base
        return [
            path
            for path in self.variants.numbers()
            if is_number(now := value_at(values, path)) and now != value_at(usual, path)
        ]

    def _refused(self, known: StandIn, whole: bool) -> StandIn:
        """The same without an answer for rows that were answered wrongly: where a switch was as then, or at all."""
        made = []
        for name, kind, decision in known.rows:
            pattern = re.compile(re.escape(name).replace(r"\{\}", r"\d+"))
            for given, odd in self.wrongly:
                if any(pattern.fullmatch(other) for other in odd):
                    decision = UNRESOLVED if whole else self._but_not(decision, given)
            made.append((name, kind, decision))
        self.say(f"refused: {sorted({name for _, odd in self.wrongly for name in odd})[:5]}")
        return known.replace(rows=made)

    def _but_not(self, decision: Any, given: Json) -> Any:
        """A decision that does not answer where a switch is as it was when it was wrong."""
        if decision == UNRESOLVED:
            return decision
        usual = self.builder.given(self.variants.base)
        switched = sorted(
            {path for path, _ in self.switches if state(given.get(path)) != state(usual.get(path))} - {None}
        )
        for path in switched:
            decision = [path, {state(given.get(path)): UNRESOLVED, OTHERS: decision}]
        return decision if switched else UNRESOLVED

    def gather(self) -> None:
        """Probes each key alone, pairs of switches, and all numbers together."""
        base = self.add(self.variants.base)
        assert base is not None
        discrete: list[tuple[str, Any]] = []
        for path in self.variants.paths:
            discrete += self._alone(path, base)
        self.say("each key alone")
        effective = [item for item in discrete if self._matters(self.variants.base, item, base)]
        mattering = {path for path, _ in effective}
        self.switches = self._of_each_effect(
            item for item in discrete if item[0] in mattering or not is_shapeless(item[0].rpartition(".")[2])
        )
        self._pairs(self._of_each_effect(effective), base)
        self._in_need()
        self._together()

    def _alone(self, path: str, base: Probe) -> list[tuple[str, Any]]:
        """Probes other values of a key, two of one state where these change nothing; returns those that may switch.

        These are of other states, or numbers with which other tensors are built.
        """
        now, discrete, without_effect = state(value_at(self.variants.base, path)), [], 0
        for value in self.variants.singles(path):
            if state(value) == now and without_effect == _WITHOUT_EFFECT:
                continue
            probe = self.add(with_value(self.variants.base, path, value))
            without_effect += state(value) == now and probe is not None and probe.tensors == base.tensors
            if state(value) != now or (probe is not None and folded(probe) != folded(base)):
                discrete.append((path, value))
        return discrete

    def _pairs(self, contexts: Sequence[tuple[str, Any]], base: Probe) -> None:
        """Probes each switch that matters together with every other, and with numbers.

        Two that alone change the shapes of different tensors, and not which there are, are left out; those that alone
        change nothing are changed all at once, and apart only where that changes something.
        """
        started, places = time.process_time(), {json.dumps(item) for item in contexts}
        idle = [item for item in self.switches if json.dumps(item) not in places]
        doubled = [(path, 2 * value_at(self.variants.base, path)) for path in self._idle()]
        changed: list[tuple[tuple[str, Any], set[str] | None]] = []
        many = self._joints(len(contexts))
        for item in contexts:
            context = with_value(self.variants.base, *item)
            probe = self.builder.probe(context)
            if probe is None:
                continue
            mine = _changed(base, probe)
            for other, theirs in changed:
                if other[0] != item[0] and (mine is None or theirs is None or not mine.isdisjoint(theirs)):
                    self.add(with_value(context, *other))
            changed.append((item, mine))
            if time.process_time() - started > _SECONDS_IN_PAIRS:
                continue
            self._at_once(probe, [other for other in idle if other[0] != item[0]])
            self._at_once(probe, [other for other in doubled if is_number(value_at(context, other[0]))])
            for _ in range(many):
                self.add(self.draws.joint(context))
        self.say(f"{len(contexts)} switches in pairs")

    def _at_once(self, context: Probe, items: Sequence[tuple[str, Any]]) -> None:
        """Probes changes of a context together, and apart where together they change what is built."""
        of_each: dict[str, list[tuple[str, Any]]] = {}
        for item in items:
            of_each.setdefault(item[0], []).append(item)
        while of_each:  # one value of each key at a time
            self._halved(context, [values.pop() for values in of_each.values()])
            of_each = {key: values for key, values in of_each.items() if values}

    def _halved(self, context: Probe, items: Sequence[tuple[str, Any]]) -> Probe | None:
        """The probe of all changes; parts of them are probed where they change what is built, or are refused."""
        probe = self.add(with_values(context.values, items))
        if len(items) > 1 and (probe is None or probe.tensors != context.tensors):
            halves = (items[: len(items) // 2], items[len(items) // 2 :])
            parts = [self._halved(context, half) for half in halves]
            if probe is not None and not any(part and part.tensors != context.tensors for part in parts):
                self._least(context, probe, items)
        return probe

    def _least(self, context: Probe, whole: Probe, items: Sequence[tuple[str, Any]]) -> None:
        """Finds the fewest of these changes that change what is built only together."""
        needed = list(items)
        if any(paths <= {path for path, _ in items} for paths in map(_paths, self.needed)):
            return
        for item in items:
            rest = [other for other in needed if other is not item]
            probe = self.add(with_values(context.values, rest))
            if probe is not None and folded(probe) == folded(whole):
                needed = rest
        if len(needed) <= _MOST_NEEDED:
            self.needed.append(needed)

    def _in_need(self) -> None:
        """Probes other numbers, and all switches, where changes were made that have an effect only together."""
        for needed in self.needed[:_MOST_NEEDED]:
            context = with_values(self.variants.base, needed)
            for item in self.switches:
                if item[0] not in _paths(needed):
                    self.add(with_value(context, *item))
            for _ in range(_IN_CONTEXT):
                self.add(self.draws.joint(context))
        if self.needed:
            self.say(f"{len(self.needed)} that have an effect together: {[sorted(_paths(one)) for one in self.needed]}")

    def _joints(self, contexts: int) -> int:
        """How many configs with other numbers there is time for in each context."""
        seconds = _TRIES * max(contexts, 1) * self._each()
        return max(_LEAST_IN_CONTEXT, min(_IN_CONTEXT, int(_SECONDS_IN_CONTEXTS / seconds)))

    def _tries(self) -> int:
        """How many configs there is time for until one is built."""
        return max(_LEAST_HALVED, min(_MOST_HALVED, int(_SECONDS_HALVED / self._each())))

    def _each(self) -> float:
        """How long a config takes, in seconds of the processor."""
        return (time.process_time() - self.spent) / max(self.builder.built, 1)

    def _together(self) -> None:
        """Probes all numbers together, and configs as the class saves them."""
        for _ in range(_JOINT):
            self.add(self.draws.joint(self.variants.base))
        self._equals()
        full = json.loads(json.dumps(self.builder.defaults))
        for values in (full, self.draws.saved(full), *(self.draws.joint(full) for _ in range(_FULL))):
            self.add(values)
        for context in [self.draws.joint(self.variants.base) for _ in range(_ZEROS)]:
            for path in self.variants.numbers():
                if value_at(context, path):
                    self.add(with_value(context, path, 0))
        for _ in range(4):
            self.add(self.draws.joint(self.variants.base, large=True))
        for _ in range(_SIZES_ALONE):
            self.add(self.draws.joint(self.variants.base, above=SMALL))
        for _ in range(_IN_CONTEXT):
            self.add(self.draws.saved(self.draws.joint(self.variants.base)))
            self.add(self.draws.with_lists(self.draws.joint(self.variants.base)))
        written = self.draws.saved(self.variants.base)
        for path in self.draws.nulls():
            if (value := value_at(written, path)) is not None:
                self.add(with_value(self.variants.base, path, value))
                self.add(with_value(written, path, None))
        self.say("all numbers together")

    def _of_each_effect(self, items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Of the values of each key, one for each effect, and some that are no other key's.

        What a class puts in place of null is often the number of another key, which changes nothing anywhere.
        """
        items, found = list(items), dict[tuple[str, str], tuple[str, Any]]()
        for path, value in one_of_each(items):
            probe = self.builder.probe(with_value(self.variants.base, path, value))
            effect = "refused" if probe is None else json.dumps(sorted((probe.tensors or {}).items()))
            found.setdefault((path, effect if effect != "refused" else state(value)), (path, value))
        usual = [value_at(self.variants.base, path) for path in self.variants.numbers()]
        chosen = list(found.values())
        for path in dict.fromkeys(path for path, value in chosen if is_number(value) and value in usual):
            unusual = [item for item in items if item[0] == path and is_number(item[1]) and item[1] not in (0, *usual)]
            chosen += unusual[:_UNUSUAL]
        return chosen

    def _idle(self) -> list[str]:
        """The paths of numbers that change nothing if they alone are doubled."""
        base = self.builder.probe(self.variants.base)
        assert base is not None
        doubled = {
            path: 2 * value_at(self.variants.base, path) for path in self.variants.numbers() if not path[-1].isdecimal()
        }
        return [
            path
            for path, value in doubled.items()
            if value and not self._matters(self.variants.base, (path, value), base)
        ]

    def _equals(self) -> None:
        """Makes each two widths equal."""
        sizes = [path for path in self.variants.numbers() if (value_at(self.variants.base, path) or 0) > 12]
        for one, other in combinations(sizes[:_MOST_EQUAL], 2):
            self.add(with_value(self.variants.base, one, value_at(self.variants.base, other)))

    def _matters(self, values: Json, item: tuple[str, Any], base: Probe) -> bool:
        probe = self.builder.probe(with_value(values, *item))
        return probe is not None and probe.tensors != base.tensors

    def draw(self) -> tuple[int, int, int]:
        """Draws configs; keeps those that are answered wrongly or not at all, and returns how many are: and rightly."""
        wrong = unknown = right = 0
        self.wrongly = []
        for _ in range(_DRAWN):
            values = self.draws.drawn(self.switches)
            probe = self.builder.probe(values) if self.variants.has_length(values) else None
            if probe is None:
                continue
            try:
                answer = predicted(self.known, values) if self.known else None
            except Unprobed as why:
                unknown += 1
                self.say(f"    unknown: {why}") if self.log and unknown < 6 else None
                self.add(values)
                continue
            if answer == probe.tensors:
                right += 1
                continue
            wrong += 1
            odd = _odd(answer or {}, probe.tensors or {})
            self.wrongly.append((probe.given, odd))
            self.say(f"    wrong: {sorted(odd)[:4]} of {values}") if wrong < 3 else None
            self.add(values)
        return wrong, unknown, right

    def learnt(self) -> StandIn:
        """What holds for all probes; the same as before if there are no more of them."""
        if self.known is None or len(self.probes) != self.learnt_from:
            self.learnt_from = len(self.probes)
            return self.learn()
        return self.known

    def learn(self) -> StandIn:
        """Rows and rules that hold for all probes."""
        probes = list(self.probes.values())
        base = self.probes[json.dumps(self.variants.base, sort_keys=True)]
        effects = Effects(probes, self.builder, self.variants.paths, base, self.values)
        made = []
        lessons = Lessons(probes, effects)
        self.puzzles = set()
        found = lessons.of_all(rows(probes))
        for row, (decision, left, without_rule) in found:
            if left:
                self.say(f"unresolved: {len(left)} of {len(probes)} {row.name} {row.kind!r}: {str(decision)[:200]}")
            self.puzzles.update(without_rule or left)
            made.append((row.name, row.kind.partition("\0")[0], shortened(decision)))
        used = used_keys(decision for _, _, decision in made)
        computed = Replaced(self.variants, self.switches, self.say, self.values).of(used, probes)
        used |= used_keys(computed.values())
        return StandIn(
            model_type=self.builder.model_type,
            architecture=self.builder.architecture,
            version=self.builder.version,
            base=f"{self.builder.class_.base_model_prefix}." if self.builder.class_.base_model_prefix else "",
            parts=tuple(self.builder.parts),
            names=self.builder.names,
            **about_keys(
                dict(flattened(self.builder.defaults, self.builder.parts)),
                self.builder.set_beside,
                probes,
                used,
            ),
            unprobed=[path for path in self.builder.unprobed if path in used],
            nulls=[path for path in self.builder.nulls if path in used],
            computed=computed,
            lengths={path: number for path, number in self.variants.lengths.items() if path in used},
            rows=made,
        )


def predicted(known: StandIn, values: Json) -> Observed:
    """The tensors that a stand-in answers for a config.

    Raises:
        Unprobed: it does not know.
    """
    from hfcount.architectures.stand_ins import read

    found: Observed = {}
    for row in predicted_rows(read(known, values)):
        for name in _names(row.name, row.numbers):
            found[name] = (row.shape, row.kind)
    return found


def _names(name: str, numbers: Sequence[Iterable[int]]) -> list[str]:
    names = [name]
    for place in numbers:
        names = [text.replace("{}", str(index), 1) for text in names for index in place]
    return names


def main() -> int:
    import transformers

    transformers.utils.logging.set_verbosity(60)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("type", metavar="TYPE")
    parser.add_argument("classes", nargs="*", metavar="CLASS")
    parser.add_argument("--config", type=Path, help="a config.json that is built, if the defaults are not")
    asked = parser.parse_args()
    example = json.loads(asked.config.read_text()) if asked.config else None
    classes = asked.classes or [usual_class(asked.type)]
    made = [Recorder(asked.type, name, log=True, example=example).record() for name in classes]
    (FOLDER / f"{asked.type}.json").write_text(text(made))
    return 0


def text(made: Sequence[StandIn]) -> str:
    """One row a line, of all names that have the same tensors."""
    return "[" + ",\n".join(map(_text, made)) + "]\n"


def _alike(made: Sequence[tuple[str, str, Any]]) -> list[tuple[str, str, Any]]:
    """The rows with all names that have the same tensors in one."""
    alike: dict[str, tuple[list[str], str, Any]] = {}
    for name, kind, decision in made:
        alike.setdefault(json.dumps([kind, decision]), ([], kind, decision))[0].append(name)
    return [(" ".join(names), kind, decision) for names, kind, decision in alike.values()]


def _text(known: StandIn) -> str:
    head = {field: getattr(known, field) for field in known._fields if field != "rows"}
    head["lengths"] = dict(known.lengths)
    lines = ",\n".join(json.dumps(row, separators=_COMPACT) for row in _alike(known.rows))
    return json.dumps(head, separators=_COMPACT)[:-1] + f',"rows":[\n{lines}]}}'


if __name__ == "__main__":
    sys.exit(main())
