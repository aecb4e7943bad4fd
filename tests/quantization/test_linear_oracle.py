"""Which weights are linear maps, against the modules that transformers builds: a quantisation scheme packs these."""

import re

import pytest
from transformers_oracle import RECORDED, loading, model_of, modeling, torch

import hfcount


def _linear(values: dict[str, object]) -> tuple[set[str], set[str]]:
    """Stored names of the weights of nn.Linear modules, and those of all tensors that are stored as the model has them.

    An expert that is cut out of the model's stack of experts is a name of the file alone, and no module's.
    """
    with torch.device("meta"):
        model = model_of(values)
    state = model.state_dict(keep_vars=True)
    stored = loading.revert_weight_conversion(model, modeling.remove_tied_weights_from_state_dict(state, model))
    own = {id(tensor) for tensor in state.values()}
    tables, maps = (
        {id(module.weight) for module in model.modules() if isinstance(module, kind)}
        for kind in (torch.nn.Embedding, torch.nn.Linear)
    )
    return (
        {name for name, tensor in stored.items() if id(tensor) in maps - tables},
        {name for name, tensor in stored.items() if id(tensor) in own},
    )


@pytest.mark.parametrize("name", RECORDED)
def test_linear_weights_are_those_of_linear_modules(name: str) -> None:
    blueprint = hfcount.blueprint(RECORDED[name])
    theirs, own = _linear(RECORDED[name])
    stored = [leaf for leaf in blueprint.stored_leaves() if leaf.linear]
    ours = own & {name for leaf in stored for name in leaf.names()}
    theirs -= {name for name in theirs if name.startswith(blueprint.unmodeled or "\0")}
    # Only `MODULE.weight` names a module, by which a tool packs its weight.
    theirs = {name for name in theirs if name.endswith(".weight")}
    assert _folded(ours) == _folded(theirs)
    assert ours == theirs


def _folded(names: set[str]) -> list[str]:
    """Names without their numbers, so that a difference reads at a glance."""
    return sorted({re.sub(r"\b\d+\b", "*", name) for name in names})
