"""Records which words the schedulers of diffusers take: `python tests/tools/schedulers.py` (extra `oracle`).

It writes hfcount/checkpoints/pipeline/schedulers.json: for each class (`words`) the keys of scheduler_config.json that
hold one of a few words, and those words. A word is taken if a scheduler with it can be built, its timesteps be set and
a step be made, alone or beside another word of a further key. Keys of which no word is refused are left out.

And the keys of each class that hold a number or a flag, by what it refuses for them (`mistyped`): with a text, a list,
an object or null, no scheduler can be built or make a step, whatever one further key says.

And which pipelines scale noise by `init_noise_sigma` of their scheduler (`scaling`), or give its set_timesteps the
argument `mu` (`shifting`), by their source, and which schedulers have no such thing (`unscaled`, `unshifted`). Which
pipelines compute that from numbers in the scheduler's config (`computing`), and which schedulers have them (`bounded`).
"""

import ast
import inspect
import json
import logging
import re
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "hfcount" / "checkpoints" / "pipeline" / "schedulers.json"
_NO_WORD = "no_such_word"

Words = dict[str, list[str]]


def texts(kind: type) -> list[str]:
    """The short texts in the source of a scheduler, one of which may be a value of a key."""
    nodes = ast.walk(ast.parse(inspect.getsource(sys.modules[kind.__module__])))
    found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in found if 0 < len(text) < 30 and " " not in text and "\n" not in text)


def refusal(kind: Any, **values: Any) -> str:
    """The error of a scheduler with these values; "" if there is none."""
    import torch

    try:
        scheduler = kind(**values)
        shifts = {"mu": 1.0} if scheduler.config.get("use_dynamic_shifting") else {}
        scheduler.set_timesteps(4, **shifts)
        sample = torch.zeros(1, 4, 2, 2)
        scheduler.step(sample, scheduler.timesteps[0], sample)
    except (ValueError, NotImplementedError) as error:
        return str(error) or type(error).__name__
    except Exception:
        return ""
    return ""


def refuses(kind: Any, key: str, word: str, others: Mapping[str, list[str]]) -> bool:
    """Whether a scheduler refuses a word of a key, alone and beside each other word of the other keys."""
    tries = [{}, *({other: further} for other, found in others.items() if other != key for further in found)]
    return all(word in refusal(kind, **{key: word, **beside}) for beside in tries)


def closed(kind: Any) -> Words:
    """The keys of a class that hold one of a few words, and these."""
    parameters = inspect.signature(kind.__init__).parameters
    keys = [name for name, one in parameters.items() if isinstance(one.default, str)]
    keys = [name for name in keys if _NO_WORD in refusal(kind, **{name: _NO_WORD})]
    alone: Words = {name: [word for word in texts(kind) if not refusal(kind, **{name: word})] for name in keys}
    return {name: [word for word in texts(kind) if not refuses(kind, name, word, alone)] for name in keys}


WRONG: dict[str, Any] = {"text": "x", "list": [1], "object": {"x": 1}, "null": None}
"""Values of other types, one of each."""


def runs(kind: Any, values: Mapping[str, Any], **given: Any) -> bool:
    """Whether a scheduler with these values is built and makes a step, its timesteps set with `given`."""
    import torch

    try:
        scheduler = kind(**values)
        shifts = {"mu": 1.0} if scheduler.config.get("use_dynamic_shifting") else {}
        scheduler.set_timesteps(**(given or {"num_inference_steps": 4}), **shifts)
        sample = torch.zeros(1, 4, 2, 2)
        scheduler.step(sample, scheduler.timesteps[0], sample)
    except Exception:  # of any kind, from anywhere in a scheduler's code
        return False
    return True


def mistyped(kind: Any, words: Words) -> dict[str, str]:
    """The keys of a class that hold a number or a flag, by the types of values that it refuses for them."""
    defaults = {name: one.default for name, one in inspect.signature(kind.__init__).parameters.items()}
    beside: list[dict[str, Any]] = [{}, {"trained_betas": [0.1] * 1000}]
    beside += [{name: not value} for name, value in defaults.items() if isinstance(value, bool)]
    beside += [{name: word} for name, taken in words.items() for word in taken]
    ways: list[dict[str, Any]] = [{}, {"sigmas": [1.0, 0.5]}, {"timesteps": [500, 20]}]
    working = [(values, way) for values in beside for way in ways if runs(kind, values, **way)]
    found: dict[str, list[str]] = {}
    for name in (name for name, value in defaults.items() if isinstance(value, bool | int | float)):
        tried = [(values, way) for values, way in working if name not in values]
        refused = [
            which
            for which, value in WRONG.items()
            if tried and not any(runs(kind, {**values, name: value}, **way) for values, way in tried)
        ]
        if refused:
            found.setdefault(" ".join(refused), []).append(name)
    return {refused: " ".join(names) for refused, names in sorted(found.items())}


def computes(source: str) -> bool:
    """Whether a pipeline computes a shift from its scheduler's config in any case."""
    return 'scheduler.config.get("max_shift"' in source and 'get("use_dynamic_shifting"' not in source


def bounded(kind: Any) -> bool:
    """Whether a scheduler has the numbers that a shift is computed from."""
    return "max_shift" in inspect.signature(kind.__init__).parameters


def classes(base: type) -> dict[str, Any]:
    """The classes of the installed diffusers below a base, by name; of those that others stand in for, none."""
    import diffusers

    kinds = {name: getattr(diffusers, name, None) for name in sorted(dir(diffusers))}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, base) and kind is not base and "dummy" not in kind.__module__
    }


def recorded() -> dict[str, Any]:
    """What schedulers.json holds."""
    import diffusers

    schedulers, pipelines = classes(diffusers.SchedulerMixin), classes(diffusers.DiffusionPipeline)
    lists = {name: closed(kind) for name, kind in schedulers.items()}
    words = {name: {key: " ".join(taken) for key, taken in keys.items()} for name, keys in lists.items()}
    wrong = {name: mistyped(kind, lists[name]) for name, kind in schedulers.items()}
    scaled = [name for name, kind in schedulers.items() if "init_noise_sigma" in inspect.getsource(kind)]
    shifted = [name for name, kind in schedulers.items() if "mu" in inspect.signature(kind.set_timesteps).parameters]
    sources = {name: inspect.getsource(kind) for name, kind in pipelines.items()}
    return {
        "words": {name: keys for name, keys in words.items() if keys},
        "mistyped": {name: keys for name, keys in wrong.items() if keys},
        "scaling": " ".join(name for name, text in sources.items() if "scheduler.init_noise_sigma" in text),
        "shifting": " ".join(name for name, text in sources.items() if re.search(r"\bmu=mu\b", text)),
        "computing": " ".join(name for name, text in sources.items() if computes(text)),
        "bounded": " ".join(name for name, kind in schedulers.items() if bounded(kind)),
        "unscaled": " ".join(sorted(schedulers.keys() - {*scaled})),
        "unshifted": " ".join(sorted(schedulers.keys() - {*shifted})),
    }


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable()
    OUT.write_text(json.dumps(recorded(), indent=0) + "\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size:,} bytes")
