"""Reads config.json of a repo of the Hub by one request, without a listing."""

from hfcount.errors import FetchError
from hfcount.fetcher import endpoint
from hfcount.fetcher.cache import not_a_repo_id
from hfcount.fetcher.client import Denied
from hfcount.fetcher.hub import asking
from hfcount.fetcher.hub.refusals import refusal
from hfcount.fetcher.interface import CAPS, Request, label
from hfcount.fetcher.layout import CONFIG
from hfcount.formats.json import Document


def config(request: Request) -> Document:
    """The config of a repo at its revision.

    Raises:
        FetchError: as `hub.read` does.
    """
    request.check_subfolder()
    if not endpoint.is_repo_id(request.model):
        raise FetchError("BadName", not_a_repo_id(request.model))
    hub, revision = endpoint.endpoint(), request.revision or "main"
    path = f"{request.subfolder}/{CONFIG}" if request.subfolder else CONFIG
    where = label(request.path, request.revision)
    client = asking(request.timeout, request.meter, request.waiting)
    try:
        answer = client.document(f"{CONFIG} of {where}", hub.file(request.model, revision, path), CAPS[CONFIG])
    except Denied as denied:
        if denied.status == 404 and denied.code in ("", "EntryNotFound"):
            raise FetchError("NoConfig", f"{where} has no {CONFIG}.") from None
        raise refusal(denied, f"{CONFIG} of {where}", request.model, revision, where, hub.shown) from None
    finally:
        client.close()
    return Document(f"{where} {CONFIG}", answer.body)
