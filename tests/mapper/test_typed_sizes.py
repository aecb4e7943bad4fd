"""Sizes of one architecture are typed: what spec() declares is what blueprint() reads, and no name is looked up."""

import ast
import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.architectures import families
from hfcount.errors import ConfigError
from hfcount.mapper import Config, Sizes, count, derived, flag, optional, part, size
from hfcount.spec import GQA, Layer, Layers, Record, Spec
from hfcount.spec.nesting import nested, symbols_of
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices

LOOK_UPS = 52
"""How often something is looked up by text, which no type checker sees, at most: lower it whenever the count falls.

Those left take a module of a tree by its name, or what the same function has put there; no size is among them, and the
parts of a model are asked for by `s.part(...)`, whose names mypy knows.
"""

ROOMS = ("architectures/models", "architectures/components", "architectures/keys", "architectures/layers", "spec")
RECORDED = {path.stem: json.loads(path.read_text())["config"] for path in ARCHITECTURES.glob("*.json")}


def _look_ups(tree: ast.AST) -> int:
    """Places that take a value of a mapping by a text."""
    found = 0
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str()) | ast.JoinedStr(), ctx=ast.Load()):
                found += 1
    return found


def test_nothing_is_looked_up_by_text_more_often_than_before() -> None:
    room = Path(hfcount.__path__[0])
    files = [path for name in ROOMS for path in (room / name).rglob("*.py")]
    assert sum(_look_ups(ast.parse(path.read_text())) for path in files) <= LOOK_UPS


def _sizes_of(family: Any) -> tuple[Any, Any]:
    """What spec() gives and what blueprint() takes."""
    (taken,) = [hint for name, hint in get_type_hints(family.blueprint).items() if name != "return"]
    return get_type_hints(family.spec)["return"], taken


def test_spec_and_blueprint_of_a_family_speak_of_the_same_sizes() -> None:
    hints = {family.types: _sizes_of(family) for family in families.everyone()}
    assert {name: both for name, both in hints.items() if both[0] != both[1]} == {}


def test_a_spec_has_the_sizes_that_its_family_names() -> None:
    named = {name: get_args(_sizes_of(families.find(one["model_type"]))[0]) for name, one in RECORDED.items()}
    other = {
        name: (str(kinds[0]), type(own).__name__)
        for name, kinds in named.items()
        if kinds and not isinstance(own := families.read(Config(RECORDED[name])).own, kinds[0])
    }
    assert other == {}


class Inner(Sizes):
    kernel: int = size("w")


class Outer(Sizes):
    given: tuple[int, ...]
    inner: Inner = part(Inner)
    width: int = size("d_w", "wide", "width", absent=7)
    depth: int = count("N_x", absent=3)
    left: int | None = optional("d_l")
    on: bool = flag(absent=True)
    twice: int = derived(lambda c: 2 * c.int("kernel"))
    fixed: int = 5


def test_sizes_are_read_by_their_declarations() -> None:
    c = Config({"kernel": 4, "width": 9, "on": False})
    own = Outer.read(c, given=(1, 2))
    assert (own.given, own.inner.kernel, own.width, own.depth, own.left) == ((1, 2), 4, 9, 3, None)
    assert (own.on, own.twice, own.fixed) == (False, 8, 5)
    assert [(one.symbol, one.source) for one in (own.width, own.depth) if isinstance(one, Dim)] == [
        ("d_w", "width"),
        ("N_x", "depth, by default"),
    ]
    assert set(c.read_keys()) >= {"kernel", "wide", "width", "depth", "left", "on"}


def test_an_absent_key_is_said_as_ever() -> None:
    with pytest.raises(ConfigError, match="no kernel"):
        Inner.read(Config({}))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Outer.read(Config({"kernel": 1})), "Outer lacks given"),
        (lambda: GQA(heads=1, kv_heads=1), "GQA lacks head_dim"),
        (lambda: GQA(heads=1, kv_heads=1, head_dim=1, wide=2), "GQA has no wide"),
        (lambda: GQA(heads=1, kv_heads=1, head_dim=1).replace(wide=2), "GQA has no wide"),
        (lambda: Layer().sizes(Inner), "this layer has no Inner"),
        (lambda: Spec(family="llama", hidden=1, layers=()).sizes(Inner), "this model of type llama has no Inner"),
    ],
)
def test_what_is_not_there_is_said(made: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError, match=f"^{said}$"):
        made()


def test_records_are_values() -> None:
    one = Outer.read(Config({"kernel": 4}), given=(1,))
    same = Outer.read(Config({"kernel": 4}), given=(1,))
    assert one == same != one.replace(fixed=6)
    assert hash(one) == hash(same)
    assert repr(Inner.read(Config({"kernel": 4}))) == "Inner(kernel=4)"
    with pytest.raises(AttributeError, match="Outer is immutable"):
        one.fixed = 6  # type: ignore[misc] # that it cannot be set is what is tested
    with pytest.raises(AttributeError, match="Outer is immutable"):
        del one.fixed
    for copied in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert copied == one
        assert copied.inner.kernel.symbol == "w"


def test_a_class_may_add_to_the_fields_of_another_and_replace_them() -> None:
    class More(Outer):
        fixed: int = size("f")
        width: int

    own = More.read(Config({"kernel": 4, "fixed": 3}), given=(), width=2)
    assert (own.fixed, own.width, own.inner.kernel) == (3, 2, 4)
    assert More._fields == Outer._fields


@pytest.mark.parametrize("model_type", ["llama", "qwen2_vl", "vits", "seamless_m4t"])
def test_a_spec_is_pickled_whole(model_type: str) -> None:
    spec = families.read(Config(RECORDED[model_type]))
    copied = pickle.loads(pickle.dumps(spec))
    assert copied == spec
    assert symbols_of(copied) == symbols_of(spec)


class Run(Record):
    width: int


class Runs(Sizes):
    runs: tuple[Run, ...]
    inner: Inner = part(Inner)
    plain: bool = False


def _sized(letter: str, key: str) -> int:
    return Dim.named(letter, Config({key: 3}).int(key))


def test_sizes_of_a_part_are_marked_with_its_letter_however_deep() -> None:
    own = Runs.read(Config({"kernel": 4}), runs=(Run(width=_sized("R", "r")), Run(width=_sized("R2", "q"))))
    layer = Layer(own=Run(width=_sized("t", "t")))
    layers = (Layers(indices=Indices.below(2), layer=layer),)
    made = nested(Spec(family="llama", hidden=2, layers=layers).having(own), "v", {("R2", "q")})
    assert symbols_of(own) == {("w", "kernel"), ("R", "r"), ("R2", "q")}
    seen = {(symbol, source) for symbol, source in symbols_of(made) if not source.endswith("fixed")}
    assert seen == {("w_v", "kernel"), ("R_v", "r"), ("R2", "q"), ("t_v", "t")}
    assert made.sizes(Runs).plain is False
    assert made.layers[0].layer.sizes(Run).width == 3
