"""Records which parts the pipelines of diffusers take: `python tests/tools/pipelines.py` (extra `oracle`).

It writes hfcount/pipelines/classes.json: the version of diffusers, and for each signature the classes that have it. In
a signature `?name` may be absent, and `=name` is a setting that has a default.
"""

import inspect
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "hfcount" / "pipelines" / "classes.json"


def signature(pipeline: Any) -> str:
    """The arguments of a pipeline's class: those that it needs, those that may be None, and settings."""
    parameters = dict(inspect.signature(pipeline.__init__).parameters)
    del parameters["self"]
    words = []
    for name, one in sorted(parameters.items()):
        mark = "?" if name in pipeline._optional_components else "" if one.default is one.empty else "="
        words.append(mark + name)
    return " ".join(words)


def recorded() -> dict[str, Any]:
    """What the installed diffusers says."""
    import diffusers

    found, base = defaultdict(list), diffusers.DiffusionPipeline
    for name in sorted(dir(diffusers)):
        one = getattr(diffusers, name, None)
        if isinstance(one, type) and issubclass(one, base) and one is not base:
            found[signature(one)].append(name)
    classes = {text: " ".join(names) for text, names in sorted(found.items())}
    return {"version": diffusers.__version__, "classes": classes}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    OUT.write_text(json.dumps(recorded(), indent=0) + "\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size:,} bytes")
