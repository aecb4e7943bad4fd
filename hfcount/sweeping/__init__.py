"""Verifies many checkpoints on any executor and keeps one row of each in a folder.

    source ──tasks──▶ engine ──batches──▶ executor ──rows──▶ store ──▶ OUT

The driver lists, holds the Hub's quota and writes; workers inspect. Nothing of this is imported for a single model.
"""
