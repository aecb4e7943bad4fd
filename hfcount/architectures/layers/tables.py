"""Parts of SLANet's readers of tables (PaddleOCR, arXiv:2210.05391)."""

from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


def structure(inputs: int, d: int, outputs: int) -> Block:
    """A head that writes a table's structure: attention to `inputs` channels, a GRU of width d, `outputs` words."""
    wide, gates = inputs + outputs, 3 * d
    rnn = block(
        "other",
        weight_ih=Tensor((gates, wide)),
        weight_hh=Tensor((gates, d)),
        bias_ih=Tensor((gates,)),
        bias_hh=Tensor((gates,)),
    )
    cell = block(
        input_to_hidden=Linear(inputs, d, component="attention"),
        hidden_to_hidden=Linear(d, d, True, "attention"),
        score=Linear(d, 1, component="attention"),
        rnn=rnn,
    )
    generator = block(fc1=Linear(d, d, True, "mlp"), fc2=Linear(d, outputs, True, "lm_head"))
    return block(structure_attention_cell=cell, structure_generator=generator)
