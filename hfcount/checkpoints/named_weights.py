"""Takes the weight file that a config names itself, by `transformers_weights`.

transformers 4.57.1, modeling_utils.py:918 and 4869; 5.23.0 and 5.24.0, modeling_utils.py:574: nothing else is read.
"""

from collections.abc import Mapping
from typing import Any

from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import HF_LAYOUT, LISTING_END, WEIGHTS_KEY, names_weights


def as_named(documents: Documents, values: Mapping[str, Any]) -> Documents:
    """The documents of a model, with the file or the index that its config names in place of the usual one.

    Raises:
        FetchError: the index could not be read.
    """
    name = values.get(WEIGHTS_KEY)
    if not isinstance(name, str) or not names_weights(name) or documents.layout != HF_LAYOUT or documents.alone:
        return documents
    if not name.endswith(LISTING_END):
        return documents.replace(index=None, layout=HF_LAYOUT._replace(single=name, named=True))
    index = documents.index
    if name != HF_LAYOUT.listing:
        index = documents.place.reader.document(name) if documents.place else None
    return documents.replace(index=index, layout=HF_LAYOUT._replace(listing=name, single=name, named=True))
