"""HF009: missing module."""

from collections.abc import Collection, Mapping

from hfcount.errors import DocumentError
from hfcount.fetcher.layout import MODULES
from hfcount.fetcher.reasons import named
from hfcount.formats.json import Document
from hfcount.formats.modules_json import all_modules, read_modules
from hfcount.text import plural, printable
from hfcount.verifier.comparison import Comparison, Evidence
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules.hf001_malformed_document import MalformedDocument
from hfcount.verifier.wording import agree


class MissingModule(Finding):
    """modules.json names a sentence-transformers module whose files are missing.

    Args:
        files, many: what is not there, and how many modules lack it.
    """

    code = "HF009"
    name = "missing-module"
    level = "error"
    why = "An upload or a copy that left out its folder."
    remedy = "Upload or download it."

    expected: int
    files: str
    many: int

    @property
    def text(self) -> str:
        return (
            f"modules.json names {plural(self.expected, 'module')}, and {printable(self.files)}"
            f" {agree(self.many, 'is', 'are')} missing: without {agree(self.many, 'it', 'them')} the embeddings are"
            " not those that the model was trained to give."
        )


NEEDS: set[Evidence] = {"modules"}


def check(c: Comparison, outcome: Outcome) -> None:
    """As `check_listed` has it."""
    check_listed(c.weights.companions, c.weights.files, outcome)


def check_listed(documents: Mapping[str, Document], files: Collection[str], outcome: Outcome) -> None:
    """What modules.json names has the files that it needs; HF001 if it cannot be read.

    Args:
        documents: modules.json and what was read with it, by path; files: paths of all files there are.
    """
    try:
        modules = all_modules(read_modules(documents[MODULES]), documents, files)
    except DocumentError as error:
        outcome.report(MalformedDocument(file=MODULES, fix=error.fix, statement=error.text))
        return
    if lacking := [what for module in modules if (what := module.lacks(files))]:
        observed = len(modules) - len(lacking)
        outcome.report(
            MissingModule(
                expected=len(modules), observed=observed, file=MODULES, files=named(lacking), many=len(lacking)
            )
        )
