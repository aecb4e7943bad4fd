"""Checks the processors of a LeRobot policy, which normalise its inputs and actions."""

from collections.abc import Iterator

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import PROCESSORS
from hfcount.fetcher.reasons import named
from hfcount.formats.json import Document, parse_object
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome


def check_processors(c: Comparison, outcome: Outcome) -> None:
    """HF847: the files that processors name are there; HF001 if what names them cannot be read."""
    for processor in PROCESSORS:
        document = c.weights.companions.get(processor)
        if document is None:
            continue
        try:
            lacking = [name for name in _states(document) if name not in c.weights.files]
        except DocumentError as error:
            from hfcount.verifier.rules.hf001_malformed_document import MalformedDocument

            outcome.report(MalformedDocument(file=processor, fix=error.fix, statement=error.text))
            continue
        if lacking:
            from hfcount.verifier.rules.hf847_processor_state_missing import ProcessorStateMissing

            outcome.report(
                ProcessorStateMissing(file=processor, files=named(lacking), many=len(lacking), processor=processor)
            )


def _states(document: Document) -> Iterator[str]:
    """The files of statistics that the steps of a processor name."""
    steps = parse_object(document).get("steps")
    for step in steps if isinstance(steps, list) else ():
        name = step.get("state_file") if isinstance(step, dict) else None
        if isinstance(name, str):
            yield name
