"""The architectures by kind, and one of them, as `hfcount --families` shows them."""

import json
import re

import pytest
from conftest import Command

from hfcount.architectures import families
from hfcount.cli.architectures import FILE, KINDS


def test_every_type_has_its_line_under_a_kind(command: Command) -> None:
    shown = command("--families").out
    heads = re.findall(r"^(\S.*) \(([\d,]+)\)$", shown, re.MULTILINE)
    assert [head.lower() for head, _ in heads] == [
        kind for kind in KINDS if kind in {head.lower() for head, _ in heads}
    ]
    listed = [one for line in re.findall(r"^  ([^:]+): \S", shown, re.MULTILINE) for one in line.split(", ")]
    assert sorted(listed) == families.all_types()
    assert sum(int(count) for _, count in heads) == len(listed)


@pytest.mark.parametrize(
    ("model_type", "lines"),
    [
        ("qwen3_moe", ["kind             language models", "layers           GQA + MoE", "num_experts = 128"]),
        ("qwen3_moe", ["classes          Qwen3MoeModel", "source           transformers 5.23: modeling_qwen3_moe.py"]),
        ("llava", ["text_config: as --families llama says", "checked against  transformers 5.24.0: a config"]),
        (
            "medusa",
            [
                "checked against  nobody: its tensors were read from the source and never compared",
                "those that vLLM loads",
            ],
        ),
        ("llava", ["transformers 4.57.1 looks for vision_tower.vision_model. in place of vision_tower."]),
        ("deepseek_v32", ["transformers 5.23.0 loaded its recorded", "transformers 4.57.1 has no such type"]),
        ("qwen3_moe", ["4.57.1 reads num_experts (128 if absent) in place of num_local_experts"]),
        ("speculators_eagle3", ["checked against  speculators 0.9.0: names and shapes of its model"]),
        (
            "chatglm",
            [
                "checked against  metadata.total_size 12,487,168,064",
                "file             hfcount/architectures/models/chatglm.py",
            ],
        ),
    ],
)
def test_one_type_is_explained(command: Command, model_type: str, lines: list[str]) -> None:
    shown = command("--families", model_type)
    assert shown.code == 0
    assert [line for line in lines if line not in shown.out] == []


def test_a_type_that_nobody_describes_is_refused_with_its_neighbours(command: Command) -> None:
    result = command("--families", "qwen33")
    assert (result.code, "Nearest known: qwen3" in result.err) == (2, True)


@pytest.mark.long
def test_the_record_is_current() -> None:
    """Without transformers what it alone can say is taken as it is recorded."""
    from catalogue import recorded, text

    assert text(recorded()) == FILE.read_text(), "python tests/tools/update.py writes it again"
    assert {one["kind"] for one in json.loads(FILE.read_text()).values()} <= {*KINDS}
