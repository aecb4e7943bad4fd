"""Containers: the names and shapes that a blueprint has in formats of their own, and what a file in one holds."""
