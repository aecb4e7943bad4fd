"""No recorded report changes unmeant; a change that is meant is recorded by `python tests/tools/update.py`."""

import json

import pytest
from conftest import SHORT, shared
from guard import FIXTURES, RECORDED, Json, digest, reports
from schema import problems, recorded
from tables import over

from hfcount import Report

EXPECTED: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())
SCHEMA = recorded()
EVERY = 4  # of the architectures, in a short run
_ARCHITECTURES = [case for case in EXPECTED if case.startswith("architectures/")]
IN_SHORT = [*_ARCHITECTURES[::EVERY], *(case for case in EXPECTED if not case.startswith("architectures/"))]


@pytest.fixture(scope="module")
def short(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.option.markexpr == SHORT)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, short: bool) -> dict[str, Json]:
    return shared(tmp_path_factory, "guard", lambda: dict(reports([FIXTURES], EVERY if short else 1)))


def test_the_same_cases(found: dict[str, Json], short: bool) -> None:
    assert list(found) == (IN_SHORT if short else list(EXPECTED))


@over("case", EXPECTED, short=IN_SHORT)
def test_every_field_is_as_recorded(case: str, found: dict[str, Json]) -> None:
    now = digest(found[case])
    assert sorted(name for name in now.keys() | EXPECTED[case] if now.get(name) != EXPECTED[case].get(name)) == []


@over("case", EXPECTED, short=IN_SHORT)
def test_no_symbol_of_any_formula_is_without_its_source(case: str, found: dict[str, Json]) -> None:
    formula = found[case].get("formula") or {"legend": {}}
    assert [name for name in formula["legend"] if not formula["keys"].get(name)] == []


def test_every_architecture_has_a_formula(found: dict[str, Json]) -> None:
    missing = [case for case, report in found.items() if case.startswith("architectures/") and not report["formula"]]
    assert missing == []


@over("case", EXPECTED, short=IN_SHORT[::3])
def test_every_report_is_as_the_schema_says_and_is_read_back(case: str, found: dict[str, Json]) -> None:
    assert problems(SCHEMA, found[case], SCHEMA) == []
    assert json.loads(Report.model_validate(found[case]).to_json()) == found[case]
