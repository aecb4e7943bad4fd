"""Parses the command line, prints and exits; nothing else in hfcount does."""
