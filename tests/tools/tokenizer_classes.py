"""Records the tokenizer classes of transformers: `python tests/tools/tokenizer_classes.py` (extra `oracle`).

It writes hfcount/verifier/tokenizer_classes.json: the names that transformers has (`names`), those that need both
vocab.json and merges.txt where there is no tokenizer.json (`paired`, run), and the types whose own class goes before
the one that tokenizer_config.json names (`typed`).
"""

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "hfcount" / "verifier" / "tokenizer_classes.json"
_WORDS = [*"abcdefghijklmnopqrstuvwxyz", "ab", "<unk>", "<s>", "</s>", "<pad>", "<mask>", "<|endoftext|>"]
_WORDS += ["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"]
FILES = {
    "vocab.json": json.dumps({word: number for number, word in enumerate(_WORDS)}),
    "merges.txt": "#version: 0.2\na b\n",
}


def loads(kind: str, names: tuple[str, ...]) -> bool:
    """Whether transformers makes a tokenizer of this class of a folder with these of FILES."""
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        documents = {"config.json": {"model_type": "llama"}, "tokenizer_config.json": {"tokenizer_class": kind}}
        for name in names:
            Path(folder, name).write_text(FILES[name])
        for name, values in documents.items():
            Path(folder, name).write_text(json.dumps(values))
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                AutoTokenizer.from_pretrained(folder)
        except Exception:  # of any kind, from anywhere in a tokenizer's code
            return False
    return True


def is_paired(kind: str) -> bool:
    """Whether a class makes a tokenizer of both files, and of neither alone."""
    return loads(kind, tuple(FILES)) and not any(loads(kind, (name,)) for name in FILES)


def recorded() -> dict[str, Any]:
    """What the file holds."""
    import transformers
    from transformers.models.auto.tokenization_auto import (
        MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS as TYPED,
    )
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    named = {name for entry in TOKENIZER_MAPPING_NAMES.values() for name in (entry or "").split()}
    names = {name for name in (*dir(transformers), *named) if "Tokenizer" in name and name[0].isupper()}
    plain = {name.removesuffix("Fast") for name in names}
    return {
        "version": transformers.__version__,
        "names": " ".join(sorted(plain)),
        "paired": " ".join(sorted(name for name in plain if is_paired(name))),
        "typed": " ".join(sorted(TYPED)),
    }


def text(values: dict[str, Any]) -> str:
    """The file, one key a line."""
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items())
    return f"{{\n{rows}\n}}\n"


if __name__ == "__main__":
    OUT.write_text(text(recorded()))
