"""Jina's retrievers and rerankers as released: XLM-R with rotary positions, adapters for tasks (arXiv:2409.10173)."""

from hfcount.architectures import families, keys
from hfcount.architectures.models.jina_embeddings_v3 import blueprint as jina_embeddings_v3
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# modeling_lora.py of jinaai/xlm-roberta-flash-implementation, and modeling_xlm_roberta.py there
MODEL_TYPES = ("jina_xlm_roberta",)
IGNORED = (
    "lora_alpha",
    "lora_dropout_p",
    "lora_main_params_trainable",
    "load_trained_adapters",
    "matryoshka_dimensions",
    "task_instructions",
    "truncate_dim",
    "use_flash_attn",
    "position_embedding_type",
)


class JinaXlmRoberta(Sizes):
    tasks: int
    rank: int


def spec(c: Config) -> Spec[JinaXlmRoberta]:
    tasks = c.length("lora_adaptations") or 0
    rank = keys.dim("r", c.int("lora_rank", default=4)) if tasks else 0
    without = families.read(c.varied("", {}), "jina_embeddings_v3").replace(family=c.family)
    return without.having(JinaXlmRoberta(tasks=keys.dim("n_t", tasks) if tasks else 0, rank=rank))


def blueprint(s: Spec[JinaXlmRoberta]) -> Block:
    model = jina_embeddings_v3(s)
    if not s.own.tasks:
        return model
    adapted = _adapted(model, s.own)
    assert isinstance(adapted, Block), "a model is a block"
    return block(roberta=adapted)


def _adapted(node: Node, of: JinaXlmRoberta) -> Node:
    """The same with an adapter for each task at each matrix: in A (t, r, inputs) and B (t, outputs, r).

    Those of a table are A (t, rows, r) and B (t, r, width).
    """
    t, r = of.tasks, of.rank
    if isinstance(node, Linear):
        pair = Tensor((t, r, node.inputs)), Tensor((t, node.outputs, r))
        bias = Tensor((node.outputs,)) if node.bias else None
        weight = Tensor((node.outputs, node.inputs))
        return block(node.component, parametrizations=_parametrized(weight, *pair), bias=bias)
    if isinstance(node, tuple):
        return tuple(_adapted(node, of) for node in node)
    if isinstance(node, Repeat):
        return Repeat(node.indices, _adapted(node.body, of), node.active)
    if isinstance(node, Block):
        table = node.children.get("weight")
        if node.component == "embedding" and isinstance(table, Tensor):
            rows, width = table.shape
            pair = Tensor((t, rows, r)), Tensor((t, r, width))
            return block("embedding", parametrizations=_parametrized(table, *pair))
        children = {name: _adapted(child, of) for name, child in node.children.items()}
        return Block(children, node.component, node.repeats)
    return node


def _parametrized(weight: Tensor, first: Tensor, second: Tensor) -> Block:
    return block(weight=Block({"original": weight, "0": block(lora_A=first, lora_B=second)}))
