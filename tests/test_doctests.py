"""The examples in the docstrings of what is public are run, and what is called first has one."""

import doctest
from types import FunctionType

import pytest
from paths import ROOT
from tables import over

import hfcount

PUBLIC = {name: getattr(hfcount, name) for name in hfcount.__all__ if hasattr(getattr(hfcount, name), "__module__")}


def _tests(name: str) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=True)
    found = finder.find(PUBLIC[name], name, module=False, globs={**PUBLIC, "hfcount": hfcount})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", ["hfcount", *(name for name in PUBLIC if _tests(name))])
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if name == "hfcount":
        tests = [doctest.DocTestParser().get_doctest(hfcount.__doc__ or "", {}, name, None, None)]
    else:
        tests = _tests(name)
    for test in tests:
        said: list[str] = []
        doctest.DocTestRunner().run(test, out=said.append)
        assert said == []


@pytest.mark.parametrize("name", ["blueprint", "verify", "verify_model", "verify_tensors", "what_ifs"])
def test_what_is_called_first_has_an_example(name: str) -> None:
    assert isinstance(PUBLIC[name], FunctionType)
    assert _tests(name)


@over("name", PUBLIC)
def test_everything_public_is_documented(name: str) -> None:
    kind = PUBLIC[name]
    assert name == "Verdict" or kind.__doc__
