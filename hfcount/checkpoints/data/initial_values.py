"""Recognises tensors that still have their initial constant value.

Tokens, scales and tables of positions begin with zeros or ones; of matrices that are called `weight`, and of experts,
only those that start a block as nothing, in all layers alike. Training moves all of these, and the norms around them:
where the nearest norms are as they began, so is the rest. Norms whose class adds one begin
with zeros. Tried on the types of transformers 5.23 and the classes of diffusers 0.42, freshly made.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from hfcount.checkpoints.data.subjects import Subject, Subjects


def constant(tensor: Subject) -> bool:
    """Whether it has one value."""
    return tensor.tally.constant is not None


def zero(tensor: Subject | None) -> bool:
    """Whether it is there, and all of it is zero."""
    return tensor is not None and tensor.tally.constant == 0


class Beginnings:
    """The matrices and norms of a model, and whether those of one value are as they began.

    Args:
        subjects: all tensors.
        groups: matrices and norms, those of one leaf together.
    """

    def __init__(self, subjects: Subjects, groups: Sequence[Sequence[Subject]]) -> None:
        self._subjects, self._groups = subjects, groups
        norms = [tensor for group in groups for tensor in group if tensor.norm]
        self._norms, self._still = Counter[str](), Counter[str]()
        self._fresh = all(map(constant, norms))
        for tensor in norms:
            for folder in _folders(tensor.name):
                self._norms[folder] += 1
                self._still[folder] += self._unmoved(tensor)

    def doubtful(self) -> list[Subject]:
        """The tensors of one value that are not as a library began them."""
        random = [group for group in self._groups if _begins_random(group[0])]
        designed = [group for group in random if self._designed(group)]
        if not any(len(group) > 1 for group in designed):  # of a type that begins no layers so
            with_bias = all(self._zero_with_bias(tensor) for group in designed for tensor in group)
            designed = [group for group in designed if (self._norms or with_bias) and not _of_tokens(group[0])]
        if 2 * len(designed) >= len(random):
            designed = []
        return [tensor for group in self._groups if group not in designed for tensor in self._wrong(group)]

    def _wrong(self, group: Sequence[Subject]) -> Iterator[Subject]:
        """Those of a leaf that are constant, unless that is how all tensors of their kind begin."""
        for tensor in filter(constant, group):
            if tensor.norm:
                sound = self._as_begun(tensor, group) or (all(map(zero, group)) and self._around(tensor))
            else:
                sound = not _begins_random(tensor) and (self._fresh or self._around(tensor))
            if not sound:
                yield tensor

    def _as_begun(self, norm: Subject, group: Sequence[Subject]) -> bool:
        """Whether a norm has a value that norms begin with, as others of its leaf do."""
        mixed = norm.tally.constant == 0 and not norm.centred and not all(map(zero, group))
        return self._unmoved(norm) and not mixed

    def _designed(self, group: Sequence[Subject]) -> bool:
        """Whether some matrices are zeros in all layers, as what starts a block as nothing, and nothing has moved."""
        return all(zero(tensor) and (self._fresh or self._around(tensor)) for tensor in group)

    def _zero_with_bias(self, tensor: Subject) -> bool:
        return zero(tensor) and zero(self._subjects.beside(tensor.name, ("bias",)))

    def _unmoved(self, norm: Subject) -> bool:
        return constant(norm) and (self._fresh or norm.centred or norm.tally.constant != 0)

    def _around(self, tensor: Subject) -> bool:
        """Whether the nearest norms besides itself are as they began."""
        is_norm, unmoved = int(tensor.norm), int(tensor.norm and self._unmoved(tensor))
        for folder in _folders(tensor.name):
            if norms := self._norms[folder] - is_norm:
                return self._still[folder] - unmoved == norms
        return False


def _folders(name: str) -> Iterator[str]:
    """The modules that a tensor is in, from the innermost one on."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def _of_tokens(tensor: Subject) -> bool:
    """Whether it has a row for each token."""
    if tensor.leaf is None or len(tensor.shape) != 2:
        return False
    return tensor.leaf.component == "lm_head" or (tensor.leaf.component == "embedding" and not tensor.leaf.linear)


def _begins_random(tensor: Subject) -> bool:
    leaf = tensor.leaf if tensor.matrix else None
    return leaf is not None and (tensor.name.endswith(".weight") or leaf.component == "experts")
