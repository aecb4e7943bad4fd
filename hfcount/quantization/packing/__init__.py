"""Expected tensors of packed weights: the blueprint's folded leaves, transformed by a quantisation scheme."""
