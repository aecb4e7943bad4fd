"""Tests with a row for each of many cases: run a hundred at a time, they name every row that fails.

A test of pytest's own costs 5 ms besides what it does, and every process collects them all. Where tests are chosen by
-k or by an id in brackets, each row is a test of its own.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

SIZE = 100
"""How many rows are run as one test."""


TOGETHER = re.compile(r"\b\d+-from-")
"""In the id of a test of several rows."""


class Rows(dict[str, Any]):
    """The values of one argument, by the names of the rows."""


def over(
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    ids: Iterable[object] = (),
    every: int = 1,
    short: Collection[str] | None = None,
) -> pytest.MarkDecorator:
    """Calls a test with each case as its arguments `names`, as parametrize does, but many in one test.

    All rows share the test's fixtures, but for `tmp_path`. None of them may skip.

    Args:
        names: one, of which each case is the value, or several, whose values each case holds.
        ids: of each case; without them, each string is its own, and what is alike is numbered.
        every: a short run takes each `every`-th case, a long one all.
        short: the ids of the cases that a short run takes, in place of `every`.
    """
    values = list(cases)
    known = [str(one) for one in ids] or [one if isinstance(one, str) else "row" for one in values]
    several = {one for one, times in Counter(known).items() if times > 1}
    rows = {f"{one}-{place}" if one in several else one: values[place] for place, one in enumerate(known)}
    return pytest.mark.over(names, rows, [*rows][::every] if short is None else short)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes the tests of a function that has rows."""
    given = metafunc.config
    apart = given.option.keyword or any("[" in arg and not TOGETHER.search(arg) for arg in given.args)
    for mark in metafunc.definition.iter_markers("over"):
        names, rows, in_short = mark.args
        short, long = ({row: rows[row] for row in rows if (row in in_short) is which} for which in (True, False))
        if len(long) > SIZE:  # as conftest.py's option thins out what parametrize makes
            long = dict(islice(long.items(), 0, None, given.getoption("every", 1)))
        make = _apart if apart else _together
        metafunc.parametrize(names, [*make(names, short), *make(names, long, pytest.mark.long)])


def _apart(names: str | tuple[str, ...], rows: dict[str, Any], *marks: pytest.MarkDecorator) -> Iterator[Any]:
    for row, value in rows.items():
        yield pytest.param(*([value] if isinstance(names, str) else value), id=row, marks=marks)


def _together(names: str | tuple[str, ...], rows: dict[str, Any], *marks: pytest.MarkDecorator) -> Iterator[Any]:
    all_of_them = list(rows)
    for start in range(0, len(rows), SIZE):
        part = all_of_them[start : start + SIZE]
        if isinstance(names, str):
            values = [Rows((row, rows[row]) for row in part)]
        else:
            values = [Rows((row, rows[row][place]) for row in part) for place in range(len(names))]
        yield pytest.param(*values, id=f"{len(part)}-from-{part[0]}", marks=marks)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that has rows; None leaves any other to pytest."""
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    tables = {name: value for name, value in given.items() if isinstance(value, Rows)}
    if not tables:
        return None
    failed: dict[str, Exception] = {}
    rows = list(next(iter(tables.values())))
    for place, row in enumerate(rows):
        own = {name: table[row] for name, table in tables.items()}
        if "tmp_path" in given:
            own["tmp_path"] = _folder(given["tmp_path"], place)
        try:
            pyfuncitem.obj(**given | own)
        except (Exception, pytest.fail.Exception) as error:
            failed[row] = error if isinstance(error, Exception) else AssertionError(str(error))
            failed[row].add_note(f"row {row!r}")
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {len(rows)} rows failed: {', '.join(failed)}", [*failed.values()])
    return True


def _folder(parent: Path, place: int) -> Path:
    folder = parent / str(place)
    folder.mkdir()
    return folder
