"""No recorded report changes unmeant; a change that is meant is recorded by `python tests/guard.py --record`."""

import json

import pytest
from guard import FIXTURES, RECORDED, digests

EXPECTED: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, str]]:
    return digests([FIXTURES])


def test_the_same_cases(found: dict[str, dict[str, str]]) -> None:
    assert list(found) == list(EXPECTED)


@pytest.mark.parametrize("case", EXPECTED)
def test_every_field_is_as_recorded(case: str, found: dict[str, dict[str, str]]) -> None:
    now = found[case]
    assert sorted(name for name in now.keys() | EXPECTED[case] if now.get(name) != EXPECTED[case].get(name)) == []
