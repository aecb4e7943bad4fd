"""What freshly made models begin with: tensors of one value that no training has moved yet.

Tokens, scales and tables of positions begin with zeros or ones; of matrices that are called `weight`, and of experts,
only those that start a block as nothing, in all layers alike. Training moves all of these, and the norms around them:
where the nearest norms are as they began, so is the rest. Tried on the types of transformers 5.23 and the classes of
diffusers 0.42, freshly made.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from hfcount.checkpoints.data.subjects import Subject, Subjects


def constant(one: Subject) -> bool:
    """Whether it has one value."""
    return one.tally.constant is not None


def zero(one: Subject | None) -> bool:
    """Whether it is there, and all of it is zero."""
    return one is not None and one.tally.constant == 0


class Beginnings:
    """The matrices and norms of a model, and whether those of one value are as they began.

    Args:
        subjects: all tensors.
        groups: matrices and norms, those of one leaf together.
    """

    def __init__(self, subjects: Subjects, groups: Sequence[Sequence[Subject]]) -> None:
        self._subjects, self._groups = subjects, groups
        norms = [one for some in groups for one in some if one.norm]
        self._norms, self._still = Counter[str](), Counter[str]()
        self._fresh = all(map(constant, norms))
        for one in norms:
            for folder in _folders(one.name):
                self._norms[folder] += 1
                self._still[folder] += self._unmoved(one)

    def doubtful(self) -> list[Subject]:
        """The tensors of one value that are not as a library began them."""
        random = [some for some in self._groups if _begins_random(some[0])]
        designed = [some for some in random if self._designed(some)]
        if not any(len(some) > 1 for some in designed):  # of a type that begins no layers so
            with_bias = all(self._zero_with_bias(one) for some in designed for one in some)
            designed = [some for some in designed if (self._norms or with_bias) and not _of_tokens(some[0])]
        if 2 * len(designed) >= len(random):
            designed = []
        return [one for some in self._groups if some not in designed for one in self._wrong(some)]

    def _wrong(self, some: Sequence[Subject]) -> Iterator[Subject]:
        """Those of a leaf that are constant, unless that is how all tensors of their kind begin."""
        for one in filter(constant, some):
            if one.norm:
                sound = self._fresh or one.tally.constant != 0 or (all(map(zero, some)) and self._around(one))
            else:
                sound = not _begins_random(one) and (self._fresh or self._around(one))
            if not sound:
                yield one

    def _designed(self, some: Sequence[Subject]) -> bool:
        """Whether some matrices are zeros in all layers, as what starts a block as nothing, and nothing has moved."""
        return all(zero(one) and (self._fresh or self._around(one)) for one in some)

    def _zero_with_bias(self, one: Subject) -> bool:
        return zero(one) and zero(self._subjects.beside(one.name, ("bias",)))

    def _unmoved(self, norm: Subject) -> bool:
        return constant(norm) and (self._fresh or norm.tally.constant != 0)

    def _around(self, one: Subject) -> bool:
        """Whether the nearest norms besides itself are as they began."""
        own, unmoved = int(one.norm), int(one.norm and self._unmoved(one))
        for folder in _folders(one.name):
            if norms := self._norms[folder] - own:
                return self._still[folder] - unmoved == norms
        return False


def _folders(name: str) -> Iterator[str]:
    """The modules that a tensor is in, from the innermost one on."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def _of_tokens(one: Subject) -> bool:
    """Whether it has a row for each token."""
    if one.leaf is None or len(one.shape) != 2:
        return False
    return one.leaf.component == "lm_head" or (one.leaf.component == "embedding" and not one.leaf.linear)


def _begins_random(one: Subject) -> bool:
    return one.matrix and one.leaf is not None and (one.name.endswith(".weight") or one.leaf.component == "experts")
