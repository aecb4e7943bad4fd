"""Two checkpoints beside each other: what one is to the other, and what says so."""
