"""How each version of a library that loads checkpoints reads them, as recorded by running it."""
