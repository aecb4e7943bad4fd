"""What is verified in memory by a config that names no class, and what an exception of verify carries."""

from pathlib import Path

import pytest
from build import config
from tables import over

import hfcount
from hfcount.errors import HfcountError

CLASSES = ["LlamaForCausalLM", "LlamaForSequenceClassification", "LlamaModel"]


@over("name", CLASSES)
def test_the_class_that_has_the_tensors_is_taken(name: str) -> None:
    values = config("llama", architectures=[name])
    tensors = {row.name: (row.shape, "BF16") for row in hfcount.blueprint(values).tensors()}
    report = hfcount.verify_tensors({**values, "architectures": None}, tensors)
    assert (report.verdict, report.architecture in (None, name)) == ("verified", True)


def test_tensors_of_no_class_differ() -> None:
    values = config("llama")
    tensors = {row.name: (row.shape, "BF16") for row in hfcount.blueprint(values).tensors()}
    del tensors["model.norm.weight"]
    report = hfcount.verify_tensors({**values, "architectures": None}, tensors)
    assert (report.verdict, report.findings[0].code) == ("mismatch", "HF201")


def test_an_exception_has_the_report_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(HfcountError) as raised:
        hfcount.verify(tmp_path / "absent")
    assert (raised.value.report.verdict, raised.value.report.exit_code) == ("unverified", 3)
