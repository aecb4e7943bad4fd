"""Renders reports as JUnit XML: a suite a model, with cases for checks, findings and the verdict."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hfcount.report.model import Report
from hfcount.report.renderers import settings
from hfcount.report.renderers.text import verdict
from hfcount.report.serving import Answer
from hfcount.text import plural


def render(reports: Sequence[Report]) -> str:
    """The document, as continuous integration reads it: errors fail, what could not be seen is an error of the run."""
    root = Element("testsuites", name="hfcount")
    for report in reports:
        _add(root, report)
    for name in ("tests", "failures", "errors"):  # and not skipped, which the schema of Jenkins has for suites alone
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)


def _add(root: Element, report: Report) -> None:
    suite = SubElement(root, "testsuite", name=report.label)
    for check in report.checks:
        case = _case(suite, report, check.name)
        text = f"expected {check.expected:,}, observed {check.observed:,}"
        text = f"{text}: {check.text}" if check.text else text
        if check.agrees or report.verdict != "mismatch":
            SubElement(case, "system-out").text = text
        else:
            SubElement(case, "failure", message=text, type=check.name)
    for finding in report.findings:
        case = _case(suite, report, f"{finding.code} {finding.name}")
        if finding.severity == "error":
            SubElement(case, "failure", message=finding.message, type=finding.code).text = "\n".join(
                [*finding.rows, f"See {finding.rule.url}"]
            )
        else:
            waived = f"{settings.source(finding.waived)}\n" if finding.waived else ""
            SubElement(case, "system-out").text = f"{waived}{finding.message}"
    _conclude(_case(suite, report, "verdict"), report)
    for answer in report.serving.answers if report.serving else ():
        _answer(_case(suite, report, f"{answer.question}, {plural(answer.ranks, 'rank')}"), answer)
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))


def _conclude(case: Element, report: Report) -> None:
    """The verdict, whatever was asked about serving; what was only counted, as asked, is skipped."""
    if report.verdict == "mismatch":
        SubElement(case, "failure", message=verdict(report), type=report.verdict)
    elif report.verdict != "unverified":
        SubElement(case, "system-out").text = verdict(report)
    elif report.depth == "config" and not report.error:
        SubElement(case, "skipped", message=verdict(report))
    else:
        SubElement(case, "error", message=verdict(report), type=report.error.kind if report.error else report.verdict)


def _answer(case: Element, answer: Answer) -> None:
    """Whether so many ranks can share the model, or whether it fits on them."""
    text = answer.reason or " ".join(filter(None, (answer.answer, answer.finding)))
    if answer.exit_code:
        tag = "failure" if answer.exit_code == 1 else "error"
        SubElement(case, tag, message=text, type=answer.finding or answer.answer)
    else:
        SubElement(case, "system-out").text = text


def _case(suite: Element, report: Report, name: str) -> Element:
    return SubElement(suite, "testcase", classname=report.label, name=name)
