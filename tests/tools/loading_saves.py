"""Finds the tensors that the installed version of transformers saves otherwise than the newest does.

Models are built without data and saved without files, so that only names are asked for.
"""

import tempfile
from collections.abc import Iterable, Sequence
from copy import deepcopy
from math import prod
from typing import Any, NamedTuple
from unittest import mock

import loading
import loading_renames
from loading import Case

Json = dict[str, Any]


class Saved(NamedTuple):
    """The names that save_pretrained writes, and whether the class keeps more in float32 in a model of float16."""

    names: frozenset[str]
    keeps_more: bool


def saved(case: Case) -> Saved:
    """What save_pretrained writes of a model that is built of the case's config."""
    import torch
    import transformers

    kind = getattr(transformers, case.name)
    with torch.device("meta"):
        model = kind(kind.config_class.from_dict(deepcopy(case.config)))
    keeps_more = bool(getattr(model, "_keep_in_fp32_modules", None))
    model = model.to_empty(device="cpu")
    model.tie_weights()
    names = set[str]()

    def written(tensors: Json, *_: Any, **__: Any) -> None:
        names.update(tensors)

    module = transformers.modeling_utils
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(module, "safe_save_file", written):
        model.save_pretrained(folder, max_shard_size="10000GB")
    return Saved(frozenset(names), keeps_more)


def otherwise(cases: Sequence[Case], renamed: Json) -> Json:
    """What is saved otherwise than the newest does, as it is recorded.

    By class, `writes` are names that are written though the newest does not write them, and `omits` those that are not.
    `float16` is what comes of loading a case in that dtype, where its class then keeps more in float32.

    Args:
        renamed: by class, the prefixes of names that this version does not read, with those that it wants.
    """
    import hfcount

    writes, omits, found = dict[str, list[str]](), dict[str, list[str]](), dict[str, Any]()
    for case in [case for case in cases if sum(map(prod, case.tensors.values())) <= loading.LARGEST]:
        try:
            came = saved(case)
        except Exception:  # what it cannot build, or save, says so where it is loaded
            continue
        if came.keeps_more and "float16" not in found:
            found["float16"] = loading.load(case, "float16")
        pairs = [pair for kinds, rows in renamed.items() if {"*", case.name} & set(kinds.split()) for pair in rows]
        leaves = hfcount.blueprint(deepcopy(case.config)).stored_leaves()
        known = {_wanted(name, pairs) for name in loading.folded(leaf.first for leaf in leaves)}
        names = set(loading.folded(came.names))
        writes[case.name], omits[case.name] = sorted(names - known), sorted(known - names)
        if not (names ^ known):
            break  # as the newest: so do its other classes
    return {"writes": writes, "omits": omits, **found}


def _wanted(name: str, pairs: Iterable[Sequence[str]]) -> str:
    for first, second in pairs:
        for lead in ("", "model."):
            bare = name.removeprefix(lead)
            if name.startswith(lead) and bare.startswith(first) and not loading_renames.reads(bare, [first, second]):
                return lead + second + bare.removeprefix(first)
    return name
