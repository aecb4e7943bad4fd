"""Records which parts the pipelines of diffusers take: `python tests/tools/pipelines.py` (extra `oracle`).

It writes hfcount/checkpoints/pipeline/classes.json: the version of diffusers, and for each signature the classes that
have it. In a signature `?name` may be absent, and `=name` is a setting that has a default.

And the classes that pad a text to what its tokenizer says of its length (`padded`, by the tokenizers), and that divide
by the VAE's scaling_factor (`scaled`), by their source.

It also writes hfcount/checkpoints/pipeline/loadable.json: the classes that a part may have, by library, without
pipelines and, of transformers, without the models, which hfcount/mapper/classes.json has.
"""

import ast
import inspect
import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "hfcount" / "checkpoints" / "pipeline" / "classes.json"
LOADABLE = OUT.with_name("loadable.json")


def signature(pipeline: Any) -> str:
    """The arguments of a pipeline's class: those that it needs, those that may be None, and settings."""
    parameters = dict(inspect.signature(pipeline.__init__).parameters)
    del parameters["self"]
    words = []
    for name, one in sorted(parameters.items()):
        mark = "?" if name in pipeline._optional_components else "" if one.default is one.empty else "="
        words.append(mark + name)
    return " ".join(words)


_PADDED = {
    "tokenizer": re.compile(
        r"max_length=self\.tokenizer\.model_max_length"
        r"|self\.tokenizer\.model_max_length if (.|\n)*max_length=self\.tokenizer_max_length"
    ),
    "tokenizer tokenizer_2": re.compile(
        r"in zip\(prompts, tokenizers, text_encoders\)(.|\n)*max_length=tokenizer\.model_max_length"
    ),
}
"""What the source of a pipeline has that pads for these tokenizers."""

_SCALED = re.compile(
    r"/ self\.vae\.config\.scaling_factor|(self\.\w+) = \(?\s*self\.vae\.config\.scaling_factor\b(.|\n)*/ \1 "
)
"""What the source of a pipeline has that divides by the factor of its VAE, or by an attribute that keeps it."""


def recorded() -> dict[str, Any]:
    """What the installed diffusers says."""
    import diffusers

    found, base, sources = defaultdict(list), diffusers.DiffusionPipeline, {}
    for name in sorted(dir(diffusers)):
        one = getattr(diffusers, name, None)
        if isinstance(one, type) and issubclass(one, base) and one is not base:
            found[signature(one)].append(name)
            sources[name] = "" if "dummy" in one.__module__ else inspect.getsource(one)
    classes = {text: " ".join(names) for text, names in sorted(found.items())}
    padded = {
        which: " ".join(name for name, text in sources.items() if _PADDED[which].search(text)) for which in _PADDED
    }
    scaled = " ".join(name for name, text in sources.items() if _SCALED.search(text))
    return {"version": diffusers.__version__, "classes": classes, "padded": padded, "scaled": scaled}


def loadable() -> dict[str, str]:
    """The names of classes that a part is loaded as, by library; of diffusers also by the folders of its pipelines."""
    import diffusers
    import transformers
    from diffusers.pipelines.pipeline_loading_utils import LOADABLE_CLASSES
    from diffusers.utils.deprecation_utils import _TRANSFORMERS_CLASS_REMAPPING

    found = {}
    for library in (diffusers, transformers):
        names = (getattr(library, name, None) for name in LOADABLE_CLASSES[library.__name__])
        bases = tuple(one for one in names if isinstance(one, type))
        abstract = {one for one in bases if one is not transformers.PreTrainedTokenizerFast}
        models = transformers.PreTrainedModel if library is transformers else diffusers.DiffusionPipeline
        kinds = {name: getattr(library, name, None) for name in dir(library)}
        found[library.__name__] = {
            name
            for name, one in kinds.items()
            if isinstance(one, type) and one not in abstract and not issubclass(one, models)
            if issubclass(one, bases) or "dummy" in one.__module__  # of a library that is not installed here
        }
    found["transformers"] |= {*_TRANSFORMERS_CLASS_REMAPPING}
    found["diffusers"] = {name for name in found["diffusers"] if not name.endswith(("Pipeline", "PipelineLegacy"))}
    pipelines = diffusers.pipelines
    found |= {path.parent.name: {*_exported(path)} for path in Path(pipelines.__path__[0]).glob("*/__init__.py")}
    known = {library: sorted(names) for library, names in sorted(found.items()) if _is_library(library, pipelines)}
    return {library: " ".join(names) for library, names in known.items()}


def _is_library(library: str, pipelines: Any) -> bool:
    """Whether diffusers takes it for a library."""
    return library in ("diffusers", "transformers") or hasattr(pipelines, library)


def _exported(path: Path) -> Iterator[str]:
    """The names that a folder of pipelines exports, and that are no pipelines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.value if isinstance(node, ast.Constant) else None
        if isinstance(name, str) and re.fullmatch(r"[A-Z]\w*(?<!Pipeline)(?<!Output)", name):
            yield name


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    for out, values in ((OUT, recorded()), (LOADABLE, loadable())):
        out.write_text(json.dumps(values, indent=0) + "\n", encoding="utf-8")
        print(f"{out}: {out.stat().st_size:,} bytes")
