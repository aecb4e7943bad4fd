"""HF002: unsafe shard name."""

from hfcount.verifier.finding import Statement


class UnsafeShardName(Statement):
    """A value of weight_map is not a plain .safetensors file name inside the repo."""

    code = "HF002"
    name = "unsafe-shard-name"
    level = "error"
    why = "A hostile or broken index: such a name could reach outside the folder. Nothing is requested for it."
    remedy = "Write the index again with plain names."
