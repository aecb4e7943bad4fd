"""Records what diffusers' classes mean by absent keys: `python tests/tools/diffusers_defaults.py` (extra `oracle`).

It writes hfcount/mapper/diffusers.json, one line per class of models: the declared default of each key.
"""

import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "diffusers.json"

Json = dict[str, Any]


def classes() -> Iterator[Any]:
    """The classes of models that a config.json can name."""
    import diffusers
    from diffusers.configuration_utils import ConfigMixin
    from diffusers.models.modeling_utils import ModelMixin

    for base in (diffusers.models, diffusers.pipelines):
        for found in pkgutil.walk_packages(base.__path__, f"{base.__name__}."):
            try:
                module = import_module(found.name)
            except Exception:  # it needs a library that is not installed
                continue
            for one in vars(module).values():
                if isinstance(one, type) and issubclass(one, ModelMixin) and issubclass(one, ConfigMixin):
                    yield one


def recorded() -> Json:
    """What the file holds: the version of diffusers, and its classes."""
    import diffusers

    known = {one.__name__: _keys(one) for one in classes() if one.config_name == "config.json"}
    return {"version": diffusers.__version__, "classes": {name: {"keys": known[name]} for name in sorted(known)}}


def _keys(kind: Any) -> Json:
    """The keys that the class takes, with their defaults; one without is left out, and so HF101 where it is absent."""
    found = inspect.signature(kind.__init__).parameters.values()
    plain = [one for one in found if one.default is not inspect.Parameter.empty]
    return {one.name: json.loads(json.dumps(one.default)) for one in plain if not one.name.startswith("_")}


def text(values: Json) -> str:
    """A line for each class."""
    lines = (f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in values["classes"].items())
    return f'{{"version": "{values["version"]}", "classes": {{\n' + ",\n".join(lines) + "\n}}\n"


def main() -> None:
    FILE.write_text(text(recorded()))


if __name__ == "__main__":
    sys.exit(main())
