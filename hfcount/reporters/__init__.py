"""A report as text: for a terminal, for programs, for a model card."""
