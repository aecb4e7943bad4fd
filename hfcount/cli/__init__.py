"""Parses the command line, prints and exits; nothing else in hfcount does.

Work here on a command, an option, or what help shows.
"""
