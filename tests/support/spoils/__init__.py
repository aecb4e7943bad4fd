"""Ways to spoil a checkpoint, each at random: its names, heads, shapes, dtypes, files, index or config.json.

Each function changes a checkpoint in place and says what it did; None where the checkpoint has nothing of the kind.
"""

from collections.abc import Callable
from random import Random

from tiny import Checkpoint

from spoils import configs, files, heads, names, tensors

Spoil = Callable[[Checkpoint, Random], str | None]

KINDS: dict[str, Spoil] = {
    kind.__name__: kind for part in (names, heads, tensors, files, configs) for kind in part.KINDS
}
