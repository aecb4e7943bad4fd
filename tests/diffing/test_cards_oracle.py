"""The values on cards are those that torch finds: elements that differ, the largest, mean and mean square error."""

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Command

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

State = dict[str, Any]
SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def same(tensor: Any) -> Any:
    return tensor


def tuned(tensor: Any) -> Any:
    return tensor + torch.randn(tensor.shape).to(tensor.dtype) / 100 if tensor.dim() > 1 else tensor


def one_element(tensor: Any) -> Any:
    """The last element of matrices of the feed-forward width."""
    if SIZES["intermediate_size"] in tensor.shape:
        tensor.reshape(-1)[-1] += 0.25
    return tensor


def scaled(tensor: Any) -> Any:
    return tensor * 1.5


def saved(folder: Path, dtype: str, change: Callable[[Any], Any]) -> State:
    """A model with random weights, cast and then changed; its tensors, as they are stored."""
    torch.manual_seed(3)
    config = transformers.LlamaConfig(**SIZES, dtype=dtype)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).to(getattr(torch, dtype))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(change(parameter.clone()))
    model.save_pretrained(folder)
    return {name: tensor.detach().double() for name, tensor in model.state_dict().items()}


PAIRS = {
    "cast to bfloat16": (("float32", same), ("bfloat16", same)),
    "cast to float16": (("float32", same), ("float16", same)),
    "cast from bfloat16 to float16": (("bfloat16", same), ("float16", same)),
    "cast from bfloat16 to float32": (("bfloat16", same), ("float32", same)),
    "tuned in bfloat16": (("bfloat16", same), ("bfloat16", tuned)),
    "tuned in float32": (("float32", same), ("float32", tuned)),
    "tuned and cast": (("float32", same), ("bfloat16", tuned)),
    "one element of some": (("float16", same), ("float16", one_element)),
    "scaled": (("bfloat16", same), ("bfloat16", scaled)),
    "nothing": (("bfloat16", same), ("bfloat16", same)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAIRS)
def test_errors_are_those_of_torch(name: str, command: Command, tmp_path: Path) -> None:
    a, b = (saved(tmp_path / side, *how) for side, how in zip("ab", PAIRS[name], strict=True))
    result = command("diff", tmp_path / "a", tmp_path / "b", "--depth", "data", "--card", "-")
    assert result.code in (0, 1), result.err
    made = yaml.safe_load(result.out)
    gaps = {tensor: (a[tensor] - b[tensor]).abs() for tensor in a}
    every = torch.cat([gap.reshape(-1) for gap in gaps.values()])
    values = made["values"]
    assert values["compared"] == len(gaps)
    assert values["elements"] == every.numel()
    assert values["elements_differing"] == int((every > 0).sum())
    assert values["identical"] <= sum(not bool(gap.any()) for gap in gaps.values())
    assert values["compared"] - values["identical"] == values["rounded"] + values["other"]
    wanted = (float(every.max()), float(every.mean()), sqrt(float((every**2).mean())))
    assert tuple(made["rounding"].values()) == pytest.approx(wanted, rel=5e-6)  # six digits are shown
