"""Finds the tensors that the installed version of transformers saves otherwise than the newest does.

Models are built without data and saved without files, so that only names are asked for.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from copy import deepcopy
from math import prod
from typing import Any
from unittest import mock

import loading
import loading_renames
from loading import Case

Json = dict[str, Any]


LARGEST = 2 * 10**9
"""The elements of the largest model that is built; its memory is never written to."""


def saved(case: Case) -> set[str]:
    """The names that save_pretrained writes of a model that is built of the case's config."""
    import torch
    import transformers

    kind = getattr(transformers, case.name)
    with torch.device("meta"):
        model = kind(kind.config_class.from_dict(deepcopy(case.config)))
    model = model.to_empty(device="cpu")
    model.tie_weights()
    names = set[str]()

    def written(tensors: Json, *_: Any, **__: Any) -> None:
        names.update(tensors)

    module = transformers.modeling_utils
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(module, "safe_save_file", written):
        model.save_pretrained(folder, max_shard_size="10000GB")
    return names


def in_float16(case: Case) -> loading.Loaded | None:
    """What stays in float32 in a model of float16; None where that is no more than in one of bfloat16."""
    import torch
    import transformers

    kind, usual = getattr(transformers, case.name), torch.get_default_dtype()
    torch.set_default_dtype(torch.float16)
    try:
        with torch.device("meta"):
            model = kind(kind.config_class.from_dict(deepcopy(case.config)))
    finally:
        torch.set_default_dtype(usual)
    if not (more := getattr(model, "_keep_in_fp32_modules", None)):
        return None
    always = getattr(model, "_keep_in_fp32_modules_strict", None) or ()
    names = "|".join(rf"(^|\.){name.replace('*', '.*')}($|\.)" for name in (*more, *always))
    state = {name: one.float() if re.search(names, name) else one for name, one in model.state_dict().items()}
    kept, rest = loading.dtypes(model, state)
    return loading.Loaded(float32=kept, other=rest)


def otherwise(cases: Iterable[Case], renamed: Json) -> Json:
    """What is saved otherwise than the newest does.

    By class, `writes` are names that are written though the newest does not write them, and `omits` those that are not.
    `float16` is what stays in float32 in a model of that dtype, where that is more than in one of bfloat16.

    Args:
        renamed: by class, the prefixes of names that this version does not read, with those that it wants.
    """
    import hfcount

    writes, omits, found = dict[str, list[str]](), dict[str, list[str]](), dict[str, Any]()
    for case in [case for case in cases if sum(map(prod, case.tensors.values())) <= LARGEST]:
        try:
            if not found.get("float16") and (kept := in_float16(case)):
                found["float16"] = kept
            names = set(loading.folded(saved(case)))
        except Exception:  # what it cannot build, or save, says so where it is loaded
            continue
        pairs = [pair for kinds, rows in renamed.items() if {"*", case.name} & set(kinds.split()) for pair in rows]
        leaves = hfcount.blueprint(deepcopy(case.config)).stored_leaves()
        known = {_wanted(name, pairs) for name in loading.folded(leaf.first for leaf in leaves)}
        writes[case.name], omits[case.name] = sorted(names - known), sorted(known - names)
        if names == known:
            break  # so do its other classes
    return {"writes": writes, "omits": omits, **found}


def _wanted(name: str, pairs: Iterable[Sequence[str]]) -> str:
    for first, second in pairs:
        for lead in ("", "model."):
            bare = name.removeprefix(lead)
            if name.startswith(lead) and bare.startswith(first) and not loading_renames.reads(bare, [first, second]):
                return lead + second + bare.removeprefix(first)
    return name
