"""Records how a version of transformers takes generation settings: `python tests/tools/generation.py`, once with each.

It writes the version's line of hfcount/verifier/loaders/generation.json:

- `caches`: the words that cache_implementation may hold.
- `defaults`: what an absent setting means, where that is not null.
- `refused`: keys that a generation_config.json may not have, whatever they hold: arguments of `generate`, and names of
  what its class itself calls.
- `popped`: keys that a config class takes out of config.json unless it declares them.
- `classes`: the model classes that generate, and read such settings while they are loaded.
"""

import json
import os
import tempfile
import warnings
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders" / "generation.json"
HEAD = '{"all": {"library":"transformers"}, "versions": {\n'

Json = dict[str, Any]


def row() -> Json:
    """What is recorded of the installed version."""
    from transformers import GenerationConfig
    from transformers.generation import configuration_utils

    named = [value for name, value in vars(configuration_utils).items() if name.endswith("CACHE_IMPLEMENTATIONS")]
    words = sorted({"paged", *(word for words in named for word in words)})
    usual = GenerationConfig()
    keys = {
        name: value for name, value in sorted(vars(usual).items()) if not name.startswith("_") and value is not None
    }
    keys.pop("transformers_version", None)
    popped = getattr(GenerationConfig, "_get_default_generation_params", dict)()
    return {
        "caches": " ".join(word for word in words if not _refuses({"cache_implementation": word})),
        "defaults": keys,
        "refused": " ".join(
            name for name in sorted(_names(usual)) if all(_refuses({name: one}) for one in (1, None, []))
        ),
        "popped": " ".join(sorted(popped)),
        "classes": " ".join(sorted(_generating())),
    }


def _names(usual: Any) -> set[str]:
    """The keys that may mean something else than a setting."""
    from transformers import GenerationMixin

    arguments = signature(GenerationMixin.generate).parameters
    others = {
        "assistant_model",
        "logits_processor",
        "negative_prompt_attention_mask",
        "negative_prompt_ids",
        "streamer",
    }
    own = set(dir(usual)) - vars(usual).keys()
    return {*own, *arguments, *others, "self"}


def _refuses(settings: Json) -> bool:
    from transformers import GenerationConfig

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "generation_config.json").write_text(json.dumps(settings))
        try:
            GenerationConfig.from_pretrained(folder)
        except Exception:  # of any kind, since it calls what the file says
            return True
    return False


def _generating() -> Iterator[str]:
    """The model classes that generate by a config of the common class."""
    import transformers
    from classes import recorded

    for name in {name for names in recorded()["classes"].values() for name in names.split()}:
        try:
            kind = getattr(transformers, name)
            own = getattr(kind, "generation_config_class", transformers.GenerationConfig)
            if own is transformers.GenerationConfig and kind.can_generate():
                yield name
        except Exception:  # it is not in this version, or needs a library that is not installed
            continue


def main() -> None:
    """Writes the line of the installed version."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical"}
    warnings.simplefilter("ignore")
    import transformers

    rows: Json = json.loads(FILE.read_text())["versions"] if FILE.exists() else {}
    rows[transformers.__version__] = row()
    lines = [f"{json.dumps(version)}: {json.dumps(rows[version], separators=(',', ':'))}" for version in sorted(rows)]
    FILE.write_text(HEAD + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
