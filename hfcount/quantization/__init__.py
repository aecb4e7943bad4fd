"""Knows how quantised weights are stored; a file in schemes/ for each method.

Work here on a quantisation method.
"""
