"""Holds the recorded drafts against the library speculators: `python tests/tools/drafts.py` (pip install speculators).

Of each file of fixtures/architectures whose judge is speculators, the model is built on the meta device by the version
that is installed, and the names and shapes of what it saves are compared with the blueprint. Prints one line each, and
ends with 1 if any differs.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import hfcount

FOLDER = Path(__file__).parents[2] / "fixtures" / "architectures"

OF_TARGET = {"embed_tokens.weight", "lm_head.weight", "verifier_lm_head.weight", "t2d", "d2t"}
"""What a draft may store or take from its target."""


def saved(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what speculators saves of a config."""
    import torch

    kind = config["model_type"].removeprefix("speculators_")
    configs, models = import_module("speculators.config"), import_module("speculators.model")
    import_module(f"speculators.models.{kind}")
    verifier: dict[str, Any] = {"name_or_path": None, "architectures": []}
    method = {"proposal_type": "greedy", "speculative_tokens": 3}
    algorithm = {
        "algorithm": kind,
        "proposal_methods": [method],
        "default_proposal_method": "greedy",
        "verifier": verifier,
    }
    values = {key: one for key, one in config.items() if key not in ("model_type", "architectures")}
    whole = configs.SpeculatorModelConfig.from_dict(
        {**values, "speculators_model_type": kind, "speculators_config": algorithm}
    )
    whole.transformer_layer_config._attn_implementation = "eager"
    with torch.device("meta"):
        model = models.SpeculatorModel.registry[kind](whole)
    return {name: tuple(one.shape) for name, one in model.state_dict().items()}


def main() -> int:
    differing = 0
    for path in sorted(FOLDER.glob("speculators_*.json")):
        recorded = json.loads(path.read_text())
        if not recorded["judge"].startswith("speculators"):
            continue
        mine = {one.name: tuple(map(int, one.shape)) for one in hfcount.blueprint(recorded["config"]).tensors()}
        theirs = {name: shape for name, shape in saved(recorded["config"]).items() if "verifier" not in name}
        odd = [name for name in {*mine, *theirs} - OF_TARGET if mine.get(name) != theirs.get(name)]
        print(f"{path.stem}: {f'differs in {len(odd)}, such as {sorted(odd)[:3]}' if odd else 'equal'}")
        differing += bool(odd)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
