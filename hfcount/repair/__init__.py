"""Repairs of a local folder: only those after which every tensor agrees, written so that no file is ever half there."""
