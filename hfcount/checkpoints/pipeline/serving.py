"""Answers whether the weights of all parts of a pipeline fit into memory."""

from collections.abc import Sequence

from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.pipeline.report import ListedPart
from hfcount.report.serving import Answer, Serving
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules.hf602_does_not_fit import DoesNotFit

_SHARED = "tensor parallelism (--tp) does not split the parts of a pipeline"


def served(listed: Sequence[ListedPart], options: Options) -> tuple[Serving | None, list[Finding]]:
    """The answers, and the finding that says why the weights do not fit."""
    load = options.load
    answers = [Answer(question="tp", ranks=ranks, answer="unknown", reason=_SHARED) for ranks in load.ranks]
    if load.memory is None:
        return (Serving(answers=tuple(answers)) if answers else None), []
    reports = [part.report for part in listed if part.report is not None]  # a mismatch is false
    sizes = [report.memory.weights_bytes if report.memory else None for report in reports]
    if None in sizes or any(part.absent for part in listed):
        answers.append(Answer(question="memory", ranks=1, answer="unknown", reason="not all parts have known sizes"))
        return Serving(answers=tuple(answers)), []
    total = sum(size or 0 for size in sizes)
    if total <= load.memory:
        answers.append(Answer(question="memory", ranks=1, answer="yes"))
        return Serving(fits=True, answers=tuple(answers)), []
    fix = "Use more memory, or keep only the active part on the device (enable_model_cpu_offload)."
    finding = DoesNotFit(
        expected=load.memory,
        observed=total,
        device=load.memory,
        ranks=1,
        weights=total,
        cache=0,
        load="",
        fix=fix,
        severity="error",
    )
    allowed = options.policy.waives(finding)
    answers.append(Answer(question="memory", ranks=1, answer="no", finding=finding.code, allowed=allowed))
    return Serving(fits=False, answers=tuple(answers)), [finding]
