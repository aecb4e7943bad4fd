"""Records and states take fields by place or name, and say what does not fit; parts of reports pass as dataclasses."""

import dataclasses
import pickle
from typing import ClassVar

import pytest

from hfcount.record import Record, State, made
from hfcount.report.figures import Location
from hfcount.report.model import Report


class Point(Record, kw_only=False):
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    marks: list[str] = made(factory=list)


class Tally(State, kw_only=False):
    count: int = 0
    names: dict[str, int] = made(factory=dict)


def test_fields_are_given_by_position_or_by_name() -> None:
    assert Point(1) == Point(x=1, y=2, marks=[]) != Point(1, 3)
    assert repr(Point(1, marks=["a"])) == "Point(x=1, y=2, marks=['a'])"
    assert Point(1).replace(y=5) == Point(1, 5)
    assert pickle.loads(pickle.dumps(Point(1, 5))) == Point(1, 5)


@pytest.mark.parametrize(
    ("values", "named", "says"),
    [
        ((), {}, "Point lacks x"),
        ((1,), {"z": 3}, "Point has no z"),
        ((1,), {"x": 3}, "Point has x twice"),
        ((1, 2, [], 4), {}, "Point takes 3 values, not 4"),
        ((), {"z": 3}, "Point lacks x and has no z"),
    ],
)
def test_what_does_not_fit_is_named(values: tuple[int, ...], named: dict[str, int], says: str) -> None:
    with pytest.raises(TypeError, match=f"^{says}$"):
        Point(*values, **named)  # type: ignore[arg-type] # which is what is tried


def test_a_subclass_sets_a_field_of_its_base_with_an_annotation() -> None:
    class Origin(Point, kw_only=False):
        x: int = 0

    assert (Origin(), Origin(3).x) == (Origin(0, 2), 3)
    with pytest.raises(TypeError, match=r"^Corner sets x, y without an annotation$"):

        class Corner(Point, kw_only=False):
            x = 0
            y = 1


def test_a_default_that_is_made_is_nobody_elses() -> None:
    one, other = Tally(), Tally()
    one.names["a"] = 1
    one.count += 1
    assert (one.count, one.names, other.names) == (1, {"a": 1}, {})


def test_a_record_does_not_change_and_a_state_has_no_hash() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Point(1).x = 2  # type: ignore[misc] # which is what is tried
    assert hash(Location(file="a")) == hash(Location(file="a", line=None))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Tally())


class Line(Location):
    text: str
    file: str = "a"


def test_a_part_has_the_fields_of_its_base() -> None:
    assert [(field.name, field.type) for field in dataclasses.fields(Line)] == [
        ("file", str),
        ("line", int | None),
        ("text", str),
    ]
    assert dataclasses.asdict(Line(text="b")) == {"file": "a", "line": None, "text": "b"}


def test_a_part_of_a_report_is_a_dataclass_to_those_who_ask() -> None:
    report = Report(model="a", verdict="verified")
    assert dataclasses.is_dataclass(report)
    assert [field.name for field in dataclasses.fields(Location)] == ["file", "line"]
    assert dataclasses.asdict(report) == report.model_dump()
    assert dataclasses.replace(report, model="b").model == "b"
    assert Report.model_validate_json(report.to_json()) == report
