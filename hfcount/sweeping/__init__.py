"""Many checkpoints, one row each, on any executor: what `hfcount.sweep` and `hfcount sweep` run.

    source ──tasks──▶ engine ──batches──▶ executor ──rows──▶ store ──▶ OUT

The driver lists, holds the Hub's quota and writes; workers inspect. Nothing of this is imported for a single model.
"""
