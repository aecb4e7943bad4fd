"""A model's second form in the same repo: the files of Mistral or of open_clip beside those of transformers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.libraries import mistral, open_clip
from hfcount.checkpoints.inspection import Evidence
from hfcount.errors import ConfigError, DocumentError, FetchError, UnknownArchitecture
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import MISTRAL_LAYOUT, OPEN_CLIP_LAYOUT, Layout
from hfcount.fetcher.weights import set_apart, weights
from hfcount.formats.json import Document, parse_object
from hfcount.mapper import Config
from hfcount.mapper.quantization_config import Announcement, announcements
from hfcount.text import printable
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome
from hfcount.verifier.wording import sides

Shapes = Mapping[str, tuple[int, ...]]


def _of_mistral(document: Document) -> tuple[Blueprint, Sequence[Announcement]]:
    values = mistral.config(parse_object(document), document.where)
    return mistral.built(Config(values, document.where)), announcements(values)


def _of_open_clip(document: Document) -> tuple[Blueprint, Sequence[Announcement]]:
    return open_clip.built(Config(open_clip.config(parse_object(document), document.where), document.where)), ()


def _alike_mistral(blueprint: Blueprint) -> Shapes | None:
    return _shapes(mistral.renamed(blueprint))


class _Form(NamedTuple):
    """A second form.

    Args:
        layout: its files.
        whose: what messages call it.
        native: its blueprint and what announces a quantisation, by its config.
        alike: what the model of config.json is by the names of this form; None where that is not known.
    """

    layout: Layout
    whose: str
    native: Callable[[Document], tuple[Blueprint, Sequence[Announcement]]]
    alike: Callable[[Blueprint], Shapes | None]


_FORMS = (
    _Form(MISTRAL_LAYOUT, "Mistral's own form", _of_mistral, _alike_mistral),
    _Form(OPEN_CLIP_LAYOUT, "open_clip's form", _of_open_clip, open_clip.of_clip),
)


def compare(documents: Documents, blueprint: Blueprint, evidence: Evidence, outcome: Outcome) -> Evidence:
    """HF808, HF809: whether other configs describe the model of config.json, and their files hold it."""
    for form in _FORMS:
        if form.layout.config in documents.companions and documents.layout is not form.layout:
            evidence = _compare(form, documents, blueprint, evidence, outcome)
    return evidence


def _compare(form: _Form, documents: Documents, blueprint: Blueprint, evidence: Evidence, outcome: Outcome) -> Evidence:
    files = weights(documents.replace(layout=form.layout, index=None), None)
    # Of another layout, what has no name of its own is the model of transformers.
    wanted = [name for name in files.there if set_apart(name, form.layout) is None and set_apart(name) is not None]
    if evidence.depth == "config" or not wanted:
        return evidence
    document = documents.companions[form.layout.config]
    try:
        native, announced = form.native(document)
    except UnknownArchitecture:  # what it describes is not compared, as the report says of its files
        return evidence
    except (DocumentError, ConfigError) as error:
        _report(form, str(error), form.layout.config, outcome)
        return evidence
    _check_alike(form, blueprint, native, outcome)
    if evidence.depth != "headers" or native.unmodeled:
        return evidence
    with suppress(FetchError):  # then they are among what was not looked at
        shards = documents.shards.read(wanted, lambda: None)
        if shards.keys() >= set(wanted):
            for finding in verify(native, None, shards, announced).findings:
                if finding.severity == "error":
                    _report(form, finding.message, wanted[0], outcome)
            return evidence.replace(others={**evidence.others, **shards})
    return evidence


def _report(form: _Form, statement: str, file: str, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf808_second_form_differs import SecondFormDiffers

    outcome.report(SecondFormDiffers(file=file, statement=f"In {form.whose} of the model: {statement}"))


def _shapes(blueprint: Blueprint) -> Shapes:
    return {row.name: row.shape for row in blueprint.rows() if row.kind == "parameter"}


def _check_alike(form: _Form, blueprint: Blueprint, native: Blueprint, outcome: Outcome) -> None:
    """HF809: both configs give the same tensors."""
    first = form.alike(blueprint)
    if first is None or native.unmodeled:
        return
    second = {name.removeprefix("text."): shape for name, shape in _shapes(native).items()}
    differing = [name for name in {**second, **first} if first.get(name) != second.get(name)]
    if not differing:
        return
    from hfcount.verifier.rules.hf809_forms_differ import FormsDiffer

    name = differing[0]
    texts = [sides(rows[name]) if name in rows else "nothing" for rows in (first, second)]
    outcome.report(
        FormsDiffer(
            file=form.layout.config,
            expected=texts[0],
            observed=texts[1],
            tensors=tuple(printable(row) for row in differing),
            count=len(differing),
        )
    )
