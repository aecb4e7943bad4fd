"""One file an architecture, named after one of its model_types."""
