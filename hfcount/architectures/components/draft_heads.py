"""Heads and convolutions of draft models that draft a block of tokens at once."""

from typing import Self

from hfcount.architectures.keys import dim, divides
from hfcount.architectures.layers import embedding, swiglu
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


class Markov(Record):
    """DSpark's heads: one corrects logits by the previous token, one predicts their confidence.

    `kind` is "vanilla", "gated" or "rnn". `rank` is None without the first head, `read` None without the second: the
    width of what the second reads.
    """

    rank: int | None
    kind: str
    read: int | None

    @classmethod
    def read_from(cls, c: Config, d: int, flat: bool) -> Self:
        """Those of a config; `flat` is SpecForge's layout, whose defaults are others than those of speculators."""
        rank: int | None = dim("r", c.int("markov_rank", default=0 if flat else 256, minimum=0)) or None
        kind = c.choice("markov_head_type", ("vanilla", "gated", "rnn"), default="vanilla")
        usual = not flat or (c.given("confidence_head_alpha") and c.number("confidence_head_alpha", zero=True) > 0)
        sure = c.bool("enable_confidence_head", default=usual)
        joined = c.bool("confidence_head_with_markov", default=not flat)
        if joined and rank is None and (sure or flat):
            text = "confidence_head_with_markov is true, and markov_rank is 0, so that there is no such head."
            raise c.error("contradiction", text, "confidence_head_with_markov", "Set it to false.")
        return cls(rank=rank, kind=kind, read=(d + (rank or 0) if joined else d) if sure else None)

    def tensors(self, d: int, vocab: int, known: int) -> Block:
        """markov_head and confidence_head; `known` of `vocab` words are the draft's."""
        markov, r = None, self.rank
        if r is not None:
            markov = block(
                "lm_head",
                markov_w1=embedding(vocab, r),
                markov_w2=Linear(r, known),
                gate_proj=Linear(d + r, r, bias=True) if self.kind == "gated" else None,
                joint_proj=Linear(2 * r + d, 3 * r, bias=True) if self.kind == "rnn" else None,
            )
        sure = block("other", proj=Linear(self.read, 1, bias=True)) if self.read is not None else None
        return block(markov_head=markov, confidence_head=sure)


class Correction(Sizes):
    """Domino's correction of logits by a recurrent network over the tokens before."""

    emb_dim: int = size("d_e")
    gru_hidden_dim: int = size("d_g")

    def tensors(self, d: int, vocab: int) -> Block:
        """prefix_gru, and embed_proj of two projections with an activation between them."""
        g = self.gru_hidden_dim
        gru = block(weight_ih_l0=Tensor((3 * g, d)), weight_hh_l0=Tensor((3 * g, g)))
        two = Block({"0": Linear(d + g, self.emb_dim), "2": Linear(self.emb_dim, vocab)}, "lm_head")
        return block(prefix_gru=Block(gru.children, "other"), embed_proj=two)


class Selection(Sizes):
    """DFlash 2's selector of candidates, and the convolutions around attention and the network of each layer."""

    selector_rank: int = size("r", absent=256)
    conv_kernel_size: int = size("k", absent=2)
    conv_group_size: int = size("n_g", absent=16)
    block_size: int = size("B", absent=8)
    groups: int

    def tensors(self, d: int, vocab: int) -> Block:
        """candidate_selector."""
        codebook = Tensor((vocab, self.selector_rank))
        projection = Linear(d, self.selector_rank)
        tables = block(
            "lm_head", predecessor_codebook=codebook, successor_codebook=codebook, hidden_projection=projection
        )
        return block(candidate_selector=tables)

    def convolution(self, d: int) -> Block:
        """base_kernel (2, k, d), and kernel_projection to what is added to it for a group of channels each."""
        k = self.conv_kernel_size
        return block("convolution", base_kernel=Tensor((2, k, d)), kernel_projection=Linear(d, 2 * k * self.groups))


def selection(c: Config, d: int) -> Selection:
    """DFlash 2's sizes: the groups divide the width, and a convolution is no longer than a block."""
    each = c.int("conv_group_size", default=16)
    sizes = Selection.read(c, groups=divides(c, "conv_group_size", each, "hidden_size", d))
    if sizes.conv_kernel_size > sizes.block_size:
        text = f"conv_kernel_size {sizes.conv_kernel_size:,} exceeds block_size {sizes.block_size:,}."
        raise c.error("out-of-range", text, "conv_kernel_size", "Correct one of them.")
    return sizes


class Refinement(Sizes):
    """XPress's refiner, which mixes the tokens of a block."""

    xpress_rank: int = size("r", absent=256)
    xpress_mlp_ratio: int = size("m", absent=2)
    block_size: int = size("B", absent=8)

    def tensors(self, d: int, vocab: int, known: int) -> Block:
        """refiner_head; `known` of `vocab` words are the draft's."""
        r, inner, places = self.xpress_rank, self.xpress_rank * self.xpress_mlp_ratio, self.block_size
        head = block(
            "lm_head",
            mix_l=Tensor((r, places, places)),
            token_embed=embedding(vocab, r),
            down_h=Linear(d, r),
            down_g=Linear(d, r),
            in_proj=Linear(3 * r, r),
            mlp_gate=Linear(r, inner),
            mlp_up=Linear(r, inner),
            mlp_down=Linear(inner, r),
            readout=Linear(r, known),
        )
        return block(refiner_head=head)


def _places(c: Config) -> int:
    """The places of a block: as many as are drafted, and the token before them."""
    return dim("B", c.int("xpress_block_size", default=None) or c.int("num_speculative_steps", default=15) + 1)


class FlatRefinement(Sizes):
    """XPress's refiner as vLLM names it, with the width of its network in a key of its own."""

    xpress_rank: int = size("r", absent=256)
    xpress_mlp_hidden: int = size("m", absent=512)
    places: int = derived(_places)

    def tensors(self, d: int, vocab: int, known: int) -> Block:
        """xpress_head; the draft knows all `known` words of the target's `vocab`."""
        r, inner, places = self.xpress_rank, self.xpress_mlp_hidden, self.places
        head = block(
            "lm_head",
            w1=embedding(vocab, r),
            down_h=Linear(d, r),
            down_g=Linear(d, r),
            in_proj=Linear(3 * r, r),
            mix=block(L=Tensor((r, places, places))),
            mlp=swiglu(r, inner),
            w2=Linear(r, known),
        )
        return block(xpress_head=head)
