"""HF002: unsafe shard name."""

from hfcount.verifier.finding import Statement


class UnsafeShardName(Statement):
    """weight_map names a file that is not a plain .safetensors file inside the repo."""

    code = "HF002"
    name = "unsafe-shard-name"
    level = "error"
    why = "A hostile or broken index: such a name could point outside the folder. hfcount does not open such a file."
    remedy = "Rebuild the index with plain file names."
