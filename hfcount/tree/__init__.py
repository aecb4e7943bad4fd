"""The blueprint's tree: sizes, sets of indices, nodes, and the published components built of them."""
