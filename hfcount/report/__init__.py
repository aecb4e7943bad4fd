"""Holds the report, which is what JSON promises, and renders it; a file in renderers/ for each format.

Work here on a field of the JSON, a format, or how something is shown.
"""
