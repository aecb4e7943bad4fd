"""Repairs a local folder, where it is proven that every tensor agrees afterwards.

Work here on `hfcount fix`.
"""
