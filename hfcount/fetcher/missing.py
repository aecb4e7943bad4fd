"""What stands for an index or a config where there is none, and what to say where nothing does."""

from collections.abc import Collection

from hfcount.fetcher.interface import INDEX, Documents, label
from hfcount.text import printable

SINGLE = "model.safetensors"


def without_config(files: Collection[str]) -> str:
    """What a folder with these files has in place of a config.json, as the end of a sentence; empty if unknown."""
    for name, what in (
        ("adapter_config.json", "only an adapter ({}): count the base model it names"),
        ("model_index.json", "but a pipeline of several models ({}): name one with --subfolder"),
        ("params.json", "but weights in their author's own layout ({})"),
    ):
        if name in files:
            return f", {what.format(name)}"
    return ""


def without_index(documents: Documents) -> Collection[str]:
    """The weight files of the model where no index names them."""
    names = documents.shards.names
    if names is None or SINGLE in names:
        return {SINGLE}
    return {name for name in names if not name.startswith(("adapter_", "consolidated"))}


def config_alone(documents: Documents) -> str:
    """Why a config that is given by its own file cannot be compared."""
    return (
        f"{printable(documents.model)} is a config alone, so there is nothing to compare it with. Name the folder it is"
        " in."
    )


def nothing_to_compare(documents: Documents, asked: bool = False) -> str:
    """Why there is nothing to compare the config with; `asked` says whether headers were asked for."""
    files = documents.files
    text = f"{label(documents.model, documents.revision)} has "
    text += "no safetensors files" if asked and documents.index else f"neither {INDEX} nor {SINGLE}"
    if any(name.endswith((".bin", ".pt", ".pth")) for name in files):
        return f"{text}, only pickled weights (.bin), whose tensors cannot be seen without loading them."
    if "adapter_model.safetensors" in files:
        return f"{text}, only an adapter (adapter_model.safetensors): verify the base model it names."
    if any(name.endswith(".gguf") for name in files):
        return f"{text}, only GGUF files."
    return f"{text}, so there are no headers to read." if asked else f"{text}: nothing to compare its config with."
