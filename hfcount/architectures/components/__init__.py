"""Components that several models share, one a module: each reads its sizes from a config and builds its tensors."""
