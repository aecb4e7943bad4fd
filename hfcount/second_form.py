"""A model's second form in the same repo: Mistral's own files beside those of transformers."""

from contextlib import suppress
from dataclasses import replace

from hfcount.errors import ConfigError, DocumentError, FetchError, UnknownArchitecture
from hfcount.fetcher.interface import MISTRAL_LAYOUT, PARAMS, Documents, is_consolidated
from hfcount.fetcher.weights import weights
from hfcount.formats.json import parse_object
from hfcount.inspection import Evidence
from hfcount.layouts import mistral
from hfcount.plan import Blueprint
from hfcount.text import printable
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome
from hfcount.verifier.wording import sides


def compare(documents: Documents, blueprint: Blueprint, evidence: Evidence, outcome: Outcome) -> Evidence:
    """HF808, HF809: whether params.json describes the model of config.json, and the consolidated files hold it."""
    found = weights(replace(documents, layout=MISTRAL_LAYOUT, index=None), None)
    wanted = [name for name in found.there if is_consolidated(name)]
    if evidence.depth == "config" or not wanted:
        return evidence
    document = documents.companions[PARAMS]
    try:
        native = mistral.blueprint(parse_object(document), document.where)
    except UnknownArchitecture:  # what it describes is not compared, as the report says of its files
        return evidence
    except (DocumentError, ConfigError) as error:
        _report(str(error), PARAMS, outcome)
        return evidence
    _check_alike(blueprint, native, outcome)
    if evidence.depth != "headers":
        return evidence
    with suppress(FetchError):  # then they are among what was not looked at
        shards = documents.shards.read(wanted, lambda: None)
        if shards.keys() >= set(wanted):
            for finding in verify(native, None, shards).findings:
                if finding.severity == "error":
                    _report(finding.message, wanted[0], outcome)
            return replace(evidence, others={**evidence.others, **shards})
    return evidence


def _report(statement: str, file: str, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf808_second_form_differs import SecondFormDiffers

    outcome.report(SecondFormDiffers(file=file, statement=f"In Mistral's own form of the model: {statement}"))


def _check_alike(blueprint: Blueprint, native: Blueprint, outcome: Outcome) -> None:
    """HF809: both configs give the same tensors."""
    first, second = (
        {row.name: row.shape for row in one.rows() if row.kind == "parameter"}
        for one in (mistral.renamed(blueprint), native)
    )
    differing = [name for name in {**second, **first} if first.get(name) != second.get(name)]
    if not differing:
        return
    from hfcount.verifier.rules.hf809_forms_differ import FormsDiffer

    name = differing[0]
    texts = [sides(rows[name]) if name in rows else "nothing" for rows in (first, second)]
    outcome.report(
        FormsDiffer(
            file=PARAMS,
            expected=texts[0],
            observed=texts[1],
            tensors=tuple(printable(one) for one in differing),
            count=len(differing),
        )
    )
