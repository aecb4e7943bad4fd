"""A draft of one small network for each token ahead, fed by the token before (arXiv:2404.19124)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs
from hfcount.architectures.layers import embedding, layer_norm
from hfcount.mapper import Config, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

# mlp_speculator.py of vllm-project/vllm, and its transformers_utils/configs/mlp_speculator.py
MODEL_TYPES = ("mlp_speculator",)
CLASSES = ("MLPSpeculatorPreTrainedModel",)
SPELLINGS = {r"^speculator\.": ""}
IGNORED = ("top_k_tokens_per_head", "n_candidates", "num_lookahead_tokens")


class MLPSpeculator(Draft):
    inner_dim: int
    emb_dim: int = size("d_t", absent=4096)
    n_predict: int = count("n_p", absent=3)
    tie_weights: bool = flag(absent=False)
    scale_input: bool = flag(absent=False)  # a norm without weights

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=self.emb_dim, shared=())


def spec(c: Config) -> Spec[MLPSpeculator]:
    inner = c.int("inner_dim", default=0, minimum=0) or c.int("emb_dim", default=4096)
    sizes = MLPSpeculator.read(c, inner_dim=keys.dim("d", inner))
    if sizes.tie_weights and sizes.n_predict == 1:
        text = "tie_weights is true, and n_predict is 1, so that there is nothing to tie."
        raise c.error("contradiction", text, "tie_weights", "Set it to false.")
    model = keys.decoder_spec(
        c,
        [],
        vocab=c.int("vocab_size", default=32000),
        hidden=inner,
        layer_count=None,
        heads=keys.named(PreTrainedModel="causal_lm"),
    )
    return model.replace(tied=False, uncounted="it reads one state, and keeps nothing").having(sizes)


def blueprint(s: Spec[MLPSpeculator]) -> Block:
    d, of, ahead = s.hidden, s.own, s.own.n_predict
    first = Linear(of.emb_dim, d, component="projector")

    def each(node: Node, name: str, start: int = 0) -> tuple[Repeat, ...]:
        """The same for every token, and if they are tied those after the first as its second names."""
        if not of.tie_weights:
            return (Repeat(Indices.span(start, ahead), node),)
        kept = Repeat(Indices.span(start, start + 1), node)
        again = _again(node, f"speculator.{name}.{start}")
        return (kept, *(Repeat(Indices.span(start + 1, ahead), tied) for tied in again))

    networks = block(
        emb=each(embedding(s.vocab, d), "emb"),
        proj=(Repeat(Indices.below(1), first), *each(Linear(d, d, component="mlp"), "proj", 1)),
        head=each(Linear(d, s.vocab, component="lm_head"), "head"),
        ln=each(layer_norm(d), "ln"),
    )
    return block(speculator=networks)


def _again(node: Node, place: str) -> list[Tied]:
    """Second names of the tensors of a module."""
    if isinstance(node, Linear):
        return [Tied(f"{place}.weight", (node.outputs, node.inputs), node.component)]
    assert isinstance(node, Block), "modules are linear, or blocks"
    tensors = {name: tensor for name, tensor in node.children.items() if isinstance(tensor, Tensor)}
    return [Tied(f"{place}.{name}", tensor.shape, node.component, name=name) for name, tensor in tensors.items()]
