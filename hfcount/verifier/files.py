"""Checks of what files are there: those of the index, of the size that their tensors need, and others beside them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import ADAPTER, BIN_INDEX, INDEX, MODULES
from hfcount.fetcher.weights import SINGLE, lost
from hfcount.formats.index import bin_shards
from hfcount.formats.modules import read_modules
from hfcount.text import plural, printable
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Finder
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.extents import extents
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folding import fold
