"""Lists the loaders that are known, and gives their readings of a checkpoint."""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from hfcount.mapper.class_defaults import diffusers_version
from hfcount.mapper.quantization_config import Announcement
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.engines import facts as engine_facts
from hfcount.verifier.loaders.facts import facts, versions
from hfcount.verifier.loaders.loader import FORMS, PEFT, SENTENCE_TRANSFORMERS, Basis, Checkpoint, Loader, Reading
from hfcount.verifier.loaders.mlx_lm import facts as mlx_lm_facts

if TYPE_CHECKING:
    from hfcount.formats.gguf.header import GgufHeader


class Library(NamedTuple):
    """A library that loads checkpoints.

    Args:
        module: its module in this room, whose `read(loader, checkpoint)` gives a reading.
        evidence: how what it does is known.
        knows: what is known of it.
        forms: of checkpoints that the module reads.
        untried: further forms that the library may take, which is not known; others are foreign to it.
        on_request: forms that are read only where --for names the library, as that takes longer than all else.
        version: gives its one version, where no file of this room records it.
    """

    module: str
    evidence: Basis
    knows: str
    forms: Collection[str] = ("model",)
    untried: Collection[str] = ("adapter",)
    on_request: Collection[str] = ()
    version: Callable[[], str] | None = None


_OWN = "hfcount.verifier.loaders.own"

_HOMES = {
    "diffusers": "diffusers",
    "adapter": "peft",
    "gguf": "llama.cpp",
    "diffusion adapter": "diffusers",
    "mlx adapter": "mlx-lm",
}
"""The libraries that checkpoints of other forms are made for."""


def _read(known: Loader, checkpoint: Checkpoint, asked: Collection[Loader]) -> Reading:
    library, form = LIBRARIES[known.library], checkpoint.form
    if form not in library.forms:
        name = FORMS[form]
        if form in library.untried:
            return Reading(known, "unknown", f"was not run on {name}", evidence="none")
        return Reading(known, "foreign", f"is not for {name}", evidence="none")
    if form in library.on_request and known not in asked:
        return Reading(known, "unknown", f"was not asked; --for {known.library} asks it", evidence="none")
    module = import_module(library.module)
    reading: Reading = module.read(known, checkpoint)
    return reading


LIBRARIES = {
    "transformers": Library(
        "hfcount.verifier.loaders.transformers",
        "run",
        "classes, keys, names, sizes, ties and refused values of every type",
        untried=("gguf", "adapter", "timm"),
    ),
    "vllm": Library(
        "hfcount.verifier.loaders.engines.vllm",
        "read",
        "classes, files, quantisation settings, module lists, names that it refuses or drops, LoRA",
        forms=FORMS,
    ),
    "sglang": Library(
        "hfcount.verifier.loaders.engines.sglang",
        "read",
        "classes, files, quantisation settings, module lists, ties, LoRA",
        forms=FORMS,
    ),
    "mlx-lm": Library(
        "hfcount.verifier.loaders.mlx_lm.reading",
        "run",
        "keys, defaults, rotary settings, heads, names and quantisers of every type",
        forms=("model", "mlx adapter"),
    ),
    "llama.cpp": Library(
        "hfcount.verifier.loaders.llama_cpp.reading",
        "read",
        "the metadata and tensors that it needs in GGUF files; what its converter makes of keys, names, shapes and"
        " quantisation",
        forms=("gguf", "model"),
        on_request=("model",),
    ),
    "diffusers": Library(
        _OWN,
        "run",
        "its model classes and LoRAs",
        forms=("diffusers", "diffusion adapter"),
        untried=("gguf",),
        version=diffusers_version,
    ),
    "peft": Library(_OWN, "run", "adapters", forms=("adapter",), untried=(), version=lambda: PEFT),
    "sentence-transformers": Library(
        _OWN,
        "run",
        "the modules around a model",
        untried=("adapter", "gguf"),
        version=lambda: SENTENCE_TRANSFORMERS,
    ),
}
"""The libraries by the name that --for takes."""


def loaders() -> list[Loader]:
    """Every loader that is known, of each library the newest first."""
    return [Loader(name, version) for name in LIBRARIES for version in versions_of(name)]


def versions_of(name: str) -> tuple[str, ...]:
    """The versions of a library that are known, the newest first."""
    library = LIBRARIES[name]
    return recorded.versions(name)[::-1] if library.version is None else (library.version(),)


def loader(text: str) -> Loader:
    """The loader that LIBRARY or LIBRARY@VERSION names; of several versions that fit, the newest.

    Raises:
        ValueError: there is none; the message lists those that are known.
    """
    name, _, version = text.strip().lower().partition("@")
    name = {"mlx_lm": "mlx-lm", "llamacpp": "llama.cpp", "llama-cpp": "llama.cpp"}.get(name, name)
    wanted = version.removeprefix("v").split(".") if version else []
    for known in loaders():
        if known.library == name and known.version.split(".")[: len(wanted)] == wanted:
            return known
    labels = ", ".join(known.label for known in loaders())
    raise ValueError(f"no loader is called {text}. Known are {labels}: `hfcount loaders` says what is known of each.")


def readings(checkpoint: Checkpoint, asked: Collection[Loader] = ()) -> list[Reading]:
    """What every loader makes of a checkpoint, those first that it is made for.

    Args:
        asked: the loaders that --for names.
    """
    made_for = home(checkpoint)
    every = [_read(known, checkpoint, asked)._replace(home=known in made_for) for known in loaders()]
    return sorted(every, key=lambda reading: not reading.home)


def reading(known: Loader, checkpoint: Checkpoint) -> Reading:
    """What one loader makes of a checkpoint."""
    return _read(known, checkpoint, (known,))


def home(checkpoint: Checkpoint) -> tuple[Loader, ...]:
    """The loaders that a checkpoint is made for, by its container, its scheme and its class."""
    if checkpoint.form == "gguf" and not any(map(_has_vocabulary, checkpoint.headers.values())):
        return ()
    if checkpoint.form in _HOMES:
        return (loader(_HOMES[checkpoint.form]),)
    if checkpoint.form != "model":
        return ()
    if "modules.json" in checkpoint.companions:
        return loader("sentence-transformers"), loader("transformers")
    if checkpoint.announced:
        from hfcount.verifier.loaders.compressed_tensors import stores_dense  # few are quantised

        if stores_dense(checkpoint):
            return (loader("transformers"),)
        return _of_mlx(checkpoint) if _is_of_mlx(checkpoint) else _of_scheme(checkpoint.announced[0])
    if _is_of_vllm(checkpoint):
        return (loader("vllm"),)
    return (loader("transformers"),)


def _has_vocabulary(header: "GgufHeader | None") -> bool:
    """Whether a GGUF file has one, or cannot be read; llama.cpp runs no model without, and other programs do."""
    return header is None or header.has_vocabulary


def _is_of_mlx(checkpoint: Checkpoint) -> bool:
    return any(announced.method == "mlx" for announced in checkpoint.announced) or "quantization" in checkpoint.values


def _of_mlx(checkpoint: Checkpoint) -> tuple[Loader, ...]:
    """mlx-lm, where it has the type; models that see or hear are for a library of which nothing is known here."""
    known = loader("mlx-lm")
    sees = any(isinstance(checkpoint.values.get(key), dict) for key in ("vision_config", "audio_config"))
    has_type = mlx_lm_facts.facts(known.version, checkpoint.model_type, checkpoint.class_name)
    return (known,) if has_type and not sees else ()


def _of_scheme(announced: Announcement) -> tuple[Loader, ...]:
    """Those that know a quantisation; none for a method of a library that is not recorded.

    Where nobody knows the method, it is transformers, which loads the packed weights as if they were not.
    """
    from hfcount.quantization.schemes import METHODS  # few are quantised
    from hfcount.verifier.loaders.quantizers import has_method

    method = announced.method.replace("_", "-") if announced.method == "compressed_tensors" else announced.method
    if method.startswith("modelopt"):
        return loader("vllm"), loader("sglang")
    if method == "compressed-tensors":
        read = announced.key.endswith("quantization_config")
        return (loader("transformers"), loader("vllm")) if read else (loader("vllm"),)
    if not method or has_method(versions()[-1], method):
        return (loader("transformers"),)
    engines = [(known, engine_facts.engine(known)) for known in map(loader, ("vllm", "sglang"))]
    knowing = [known for known, engine in engines if method in engine.methods or method in engine.aliases]
    return tuple(knowing) or (() if method in METHODS else (loader("transformers"),))


def _is_of_vllm(checkpoint: Checkpoint) -> bool:
    """Whether vLLM registers its class, and transformers has no such type, or builds another model by it."""
    from hfcount.verifier.loaders import transformers  # not needed to list the loaders

    kind = checkpoint.model_type
    if not kind or "auto_map" in checkpoint.values:
        return False
    if not transformers.is_taken_for_another(checkpoint) and any(facts(version, kind) for version in versions()[::-1]):
        return False
    row = engine_facts.engine(loader("vllm")).registered(checkpoint.class_name)
    return row is not None and row.is_there
