"""Spellings of classes: those that engines register, beside that of transformers."""

import pytest
from class_spellings import FILE, recorded

from hfcount.mapper.classes import is_published, known


@pytest.mark.long
def test_the_record_is_what_the_registries_have() -> None:
    """`python tests/tools/class_spellings.py` writes it anew."""
    assert FILE.read_text() == recorded()


def test_a_spelling_is_published_by_its_exact_letters() -> None:
    names = [name for name in ("PhiMoEForCausalLM", "PhimoeForCausalLM", "phiMoEForCausalLM") if is_published(name)]
    assert names == ["PhiMoEForCausalLM"]
    assert {class_.name for name in (*names, "phiMoEForCausalLM") if (class_ := known(name))} == {"PhimoeForCausalLM"}
