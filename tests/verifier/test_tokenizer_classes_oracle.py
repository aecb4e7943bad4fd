"""What is recorded of tokenizer classes is what the transformers of that version says."""

import json

import pytest

transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings transformers")
from tokenizer_classes import OUT, recorded, text  # noqa: E402 - imports transformers, which may be absent

pytestmark = pytest.mark.long


def test_the_record_is_of_the_installed_version() -> None:
    version = json.loads(OUT.read_text())["version"]
    if transformers.__version__ != version:
        pytest.skip(f"the record is of transformers {version}, and {transformers.__version__} is installed")
    assert OUT.read_text() == text(recorded())
