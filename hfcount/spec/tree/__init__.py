"""The blueprint's tree: sizes, sets of indices, nodes, and the leaves that nodes unfold to."""
