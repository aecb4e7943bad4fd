"""Causes: names of another library, or unknown names for tensors of the same shapes."""

import re
from collections import Counter
from collections.abc import Iterator

from hfcount.spec.tree.indices import Indices
from hfcount.text import printable
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.stored_rows import Row
from hfcount.verifier.folded_names import written

_STYLES = (
    (
        re.compile(r"^blk\.\d+\.(?:attn|ffn|ssm|nextn|time_mix|channel_mix)_|^(?:token_embd|output_norm)\."),
        "llama.cpp (GGUF)",
        "Convert the GGUF file with transformers: from_pretrained(..., gguf_file=...) and save_pretrained.",
    ),
    (
        re.compile(r"^layers\.\d+\.(?:attention|feed_forward|attention_norm|ffn_norm)\.|^tok_embeddings\."),
        "the original files of Meta and Mistral (consolidated.*)",
        "Convert them with the script in transformers, such as convert_llama_weights_to_hf.",
    ),
    (
        re.compile(
            r"\.self_attention\.linear_(?:qkv|proj)\.|\.mlp\.linear_fc[12]\."
            r"|^(?:module\.)?language_model\.(?:encoder|transformer)\.layers\.\d+\."
        ),
        "Megatron",
        "Convert them with Megatron Bridge, or the script that the model was trained with.",
    ),
    (
        re.compile(r"[./]kernel$"),
        "Flax",
        "Convert them: the matrices are transposed, too.",
    ),
    (re.compile(r":0$"), "TensorFlow", "Convert them: the matrices may be transposed, too."),
    (
        re.compile(r"(?:^|\.)resblocks\.\d+\.|\.attn\.in_proj_(?:weight|bias)$"),
        "OpenAI's CLIP and OpenCLIP",
        "Convert them with the script in transformers, convert_clip_original_pytorch_to_hf.",
    ),
)
"""A pattern of names, the library that writes them, and the remedy."""

_CODES = {"HF201", "HF202", "HF209"}
_PAIRS = 3  # that are named


def foreign(case: Case) -> Iterator[Cause]:
    """Many of the names that nobody described are those of another library, which names whole models or parts."""
    missing, beyond, _ = case.difference.counts
    required = sum(int(leaf.count) for leaf in case.blueprint.leaves if leaf.presence == "required")
    if 2 * missing < required and (case.gone is None or case.gone.rest):
        return  # a few tensors with such names are no conversion of it
    if not missing or not beyond:
        return
    tensors = [0] * len(_STYLES)
    for row, _ in case.difference.unexpected:
        name, count = _first(row), row.count
        for place, (pattern, _, _) in enumerate(_STYLES):
            if pattern.search(name):
                tensors[place] += count
    for (_, library, advice), count in zip(_STYLES, tensors, strict=True):
        if 4 * count >= beyond:
            yield Cause(_CODES, f"These are names of {library}.", advice)
            return


def misnamed(case: Case) -> Iterator[Cause]:
    """For every tensor that is missing there is one of its shape that nobody described."""
    missing, beyond, misshapen = case.difference.counts
    lacking, more = Counter[tuple[int, ...]](), Counter[tuple[int, ...] | None]()
    for leaf, count in case.difference.missing:
        lacking[tuple(map(int, leaf.shape))] += count
    for row, known in case.difference.unexpected:
        more[row.shape] += row.count - sum(described.count for described in known)
    if not missing or misshapen or missing != beyond or lacking != more:
        return
    pairs = _pairs(case)
    text = "for each missing tensor, one of the same shape is stored under another name"
    if pairs:
        text += f", such as {printable(pairs[0][0])} for {printable(pairs[0][1])}"
    advice = "Rename them"
    if len(pairs) == len(case.difference.missing):
        advice = f"Rename {listed([f'{printable(old)} to {printable(new)}' for old, new in pairs[:_PAIRS]])}"
        advice += ", and the others alike" if len(pairs) > _PAIRS else ""
    yield Cause(_CODES, sentence(f"{text}: most likely it is the same one"), f"{advice}, if they are the same.")


def _pairs(case: Case) -> list[tuple[str, str]]:
    """Rows of which there is one of a shape and of these numbers on either side: as stored, and as described."""
    wanted: dict[object, list[str]] = {}
    for leaf, count in case.difference.missing:
        if count == leaf.count:
            key = tuple(map(int, leaf.shape)), tuple(map(str, leaf.indices))
            wanted.setdefault(key, []).append(leaf.name)
    stored: dict[object, list[str]] = {}
    for row, known in case.difference.unexpected:
        if not known:
            stored.setdefault((row.shape, tuple(map(str, row.numbers))), []).append(row.name)
    return [(stored[key][0], names[0]) for key, names in wanted.items() if len(names) == 1 == len(stored.get(key, ()))]


def _first(row: Row) -> str:
    """The name of a tensor of a row."""
    return written(row.text, [Indices.of([next(iter(indices))]) for indices in row.numbers])
