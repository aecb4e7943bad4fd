"""What a report shows of serving: memory, cache, multiply-adds, and the answers to what was asked about them."""

from typing import Literal

from hfcount.report.part import Part


class CachePart(Part):
    """What one layer of this kind caches.

    `layers` is the number of such layers. `window` is the most tokens it caches, null for all; `picked` is the most
    cached tokens that it attends to, null for all. `merged` is how many tokens one entry stands for, where several
    share it: then `bytes_per_token` is that of an entry, and `picked` counts entries; null if each token has its own.
    """

    kind: str
    layers: int
    bytes_per_token: int | None
    state_bytes: int | None
    window: int | None
    picked: int | None = None
    merged: int | None = None


class RankMemory(Part):
    """Memory of each of `ranks` ranks that share a model, in bytes; the fields are those of Memory.

    `works` is whether an engine can share the model so; if none can, or how is unknown, the numbers are null. A rank
    has its share of what is split, and all of what is not: norms, routers, latent keys and values, towers, copies of
    key/value heads. Tied copies and other tensors beside the model's own are taken to be shared as these are.
    """

    ranks: int
    works: bool | None
    weights_bytes: int | None = None
    kv_bytes_per_token: int | None = None
    state_bytes: int | None = None
    kv_bytes: int | None = None
    total_bytes: int | None = None
    fits: bool | None = None
    largest_context: int | None = None


class Memory(Part):
    """Memory for serving, in bytes.

    `weights_bytes` is the weights as stored, `weights` the same by dtype. `kv_bytes_per_token` is what one token adds
    to the cache in all layers, until windows are full, and its part of what tokens share, rounded up; `state_bytes` is
    the states of one sequence, which do not grow. `kv_bytes` is cache and states of `batch` sequences of `context`
    tokens, `total_bytes` the same with the weights. Unknown values are null, and `weights_why` and `why` say why.

    Of `available_bytes`, `fits` is whether `total_bytes` does (one token each, if no context was asked for), and
    `largest_context` the most tokens that `batch` sequences can have: 0 for none, null for any number where it fits.
    `ranks` has what each rank holds, `tensor_parallel` every number of ranks up to 128 that can share the model, and
    `ranks_why` says why they are unknown.
    """

    weights_bytes: int | None = None
    weights: dict[str, int] | None = None
    weights_why: str | None = None
    kv_dtype: str | None = None
    kv_bytes_per_token: int | None = None
    state_bytes: int | None = None
    context: int | None = None
    batch: int = 1
    kv_bytes: int | None = None
    parts: tuple[CachePart, ...] = ()
    why: str | None = None
    total_bytes: int | None = None
    available_bytes: int | None = None
    fits: bool | None = None
    largest_context: int | None = None
    tensor_parallel: tuple[int, ...] | None = None
    ranks: tuple[RankMemory, ...] = ()
    ranks_why: str | None = None


class Answer(Part):
    """The answer to a question about serving: whether `ranks` ranks can share the model (`tp`), or whether it fits.

    `memory` is asked of each of these ranks. `finding` is the code of the finding that says why the answer is no;
    `allowed` is whether --allow let that through. `reason` is in words why the answer is no or unknown.
    `largest_context` is the most tokens that fit: 0 for none, null for any number or where that is unknown.
    """

    question: Literal["tp", "memory"]
    ranks: int
    answer: Literal["yes", "no", "unknown"]
    finding: str | None = None
    allowed: bool = False
    reason: str | None = None
    largest_context: int | None = None

    @property
    def exit_code(self) -> int:
        """0 for yes, or what was allowed; 1 for no; 3 for unknown."""
        return 0 if self.allowed else {"yes": 0, "no": 1, "unknown": 3}[self.answer]


class EngineMemory(Part):
    """What an engine uses of `available_bytes`, on each of `ranks` ranks.

    `bytes` is that share (`setting` times the memory, rounded down). Activations are part of it, so that `fits` and
    `largest_context`, which are those of Memory for so many bytes, are upper bounds.
    """

    engine: str
    setting: str
    ranks: int
    bytes: int
    fits: bool | None
    largest_context: int | None


class Serving(Part):
    """What was asked about serving, and the answers: they stand beside the verdict, and do not change it.

    `shared` is whether all numbers of ranks that were asked for can share the model, `fits` whether it fits into the
    memory wherever that was asked; null if it was not asked or is unknown. `engine` is the one in whose share of the
    memory it has to fit, which `engines` gives; null for all of the memory. `context_limit` is the most tokens of a
    sequence by the config, and `context_limit_source` the keys that give it; null if it has none.
    """

    shared: bool | None = None
    fits: bool | None = None
    answers: tuple[Answer, ...] = ()
    engine: str | None = None
    engines: tuple[EngineMemory, ...] = ()
    context_limit: int | None = None
    context_limit_source: str | None = None


class Compute(Part):
    """Multiply-adds of a forward pass for one token; each is two floating-point operations.

    `per_token` counts matrices and states, `per_position` attention per token of context, until windows are full or an
    indexer's top k is reached; `at_context` is the sum for the last token of a context.
    """

    per_token: int | None = None
    per_position: int | None = None
    context: int | None = None
    at_context: int | None = None
