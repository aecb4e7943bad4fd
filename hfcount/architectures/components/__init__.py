"""What models are made of, one concept a module: each reads its sizes from a config and lays itself out."""
