"""One checkpoint, from its name to the report."""
