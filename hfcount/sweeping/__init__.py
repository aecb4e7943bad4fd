"""Verifies many checkpoints, one row each, on any executor; a run can go on where the last one stopped.

Work here on `hfcount sweep`.

    source ──tasks──▶ engine ──batches──▶ executor ──rows──▶ store ──▶ OUT

The driver lists, holds the Hub's quota and writes; workers inspect. Nothing of this is imported for a single model.
"""
