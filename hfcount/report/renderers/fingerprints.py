"""Fingerprints of findings: the same for the same finding in later runs, whatever its line is by then."""

import hashlib
import json

from hfcount.report.model import ReportedFinding


def fingerprint(where: str, finding: ReportedFinding) -> str:
    """16 hexadecimal digits, which are others for every other finding.

    Args:
        where: what is verified: the model, or the path of a file.
    """
    facts = (where, finding.code, finding.variant, finding.file, finding.key, *finding.rows)
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
