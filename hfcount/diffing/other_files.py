"""Compares files other than weights and config: tokenizer, chat template, modules."""

import re
from collections.abc import Iterator, Mapping, Sequence

from hfcount.diffing.pieces import FileSums, Relation

_FEW = 3  # names in a line for each purpose

_MODULES = re.compile(r"modules\.json|sentence_\w+_config\.json|config_sentence_transformers\.json|\d+_\w+/\w+\.json")
"""The module list of sentence-transformers, and the settings of each module."""

_PURPOSES = {
    "the tokenizer": re.compile(
        r"(tokenizer\w*|special_tokens_map|added_tokens|vocab|tekken)\.json|merges\.txt|vocab\.txt"
        r"|(tokenizer|spiece|sentencepiece|sentencepiece\.bpe)\.model|source\.spm|target\.spm"
    ),
    "the chat template": re.compile(r"chat_template\.\w+|additional_chat_templates/.*"),
    "generation": re.compile(r"generation_config\.json"),
    "what goes in": re.compile(r"(video_)?(pre)?processor_config\.json|feature_extractor\w*\.json"),
    "its modules": _MODULES,
    "its code": re.compile(r"[^/]+\.py"),
}

_NEEDED = {name: _PURPOSES[name] for name in ("the chat template", "its modules")}
"""Purposes without a fallback; for the others the base's files or a class's defaults serve."""


def beside(files: FileSums | None) -> Iterator[Relation]:
    """Relations for other files that differ from A's, by checksum."""
    if files is None:
        return
    if purposes := [*_by_purpose((*files.differing, *files.only_b), _PURPOSES)]:
        yield Relation(kind="reading", text=f"has other files than A for {', '.join(purposes)}")
    if purposes := [*_by_purpose(files.only_a, _NEEDED)]:
        yield Relation(kind="reading", text=f"lacks A's files for {', '.join(purposes)}")


def _by_purpose(names: Sequence[str], purposes: Mapping[str, re.Pattern[str]]) -> Iterator[str]:
    for purpose, pattern in purposes.items():
        if matches := [name for name in names if pattern.fullmatch(name)]:
            more = f" and {len(matches) - _FEW} more" if len(matches) > _FEW else ""
            yield f"{purpose} ({', '.join(matches[:_FEW])}{more})"


def modules(files: FileSums | None) -> list[str]:
    """Differing files about sentence-transformers modules."""
    if files is None:
        return []
    return [name for name in (*files.differing, *files.only_a, *files.only_b) if _MODULES.fullmatch(name)]
