"""What students and instructors read: a page for each submission, a summary of the class."""

from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
       color-scheme: light dark }}
td, th {{ padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top }}
pre {{ white-space: pre-wrap; margin: 0 }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


def report(row: dict[str, Any], assignment: str) -> str:
    """A student's page: every test by name, its hint, and for public tests what was found.

    Hidden tests show neither inputs nor expected values. All text is escaped.
    """
    body = [f"<p>{escape(row['submission'])}</p>"]
    if row["status"] == "not graded":
        body.append("<p>Not graded, through no fault of yours. Your instructor will see to it.</p>")
    else:
        total, possible = sum(row["questions"].values()), sum(row["possible"].values())
        body.append(f"<p><strong>{total:g} of {possible:g} points</strong></p>")
    if row["reason"] and row["status"] != "not graded":
        items = "".join(f"<li>{escape(note)}" for note in row["reason"].split("; "))
        body.append(f"<p>While your notebook was run:</p><ul>{items}</ul>")
    for question, points in row["questions"].items():
        if points is None:
            continue
        lines = []
        for case in row["cases"]:
            if case["question"] != question:
                continue
            told = [f"<p>{escape(case['hint'])}</p>"] if case["hint"] else []
            if case["message"]:
                told.append(f"<pre>{escape(case['message'])}</pre>")
            lines.append(
                f"<tr><td>{'passed' if case['passed'] else '<strong>failed</strong>'}"
                f"<td>{escape(case['name'])}<td>{'hidden' if case['hidden'] else 'public'}"
                f"<td>{case['points']:g}<td>{''.join(told)}"
            )
        head = "<tr><th>Result<th>Test<th>Kind<th>Points<th>Hint"
        possible = row["possible"][question]
        body.append(f"<h2>{escape(question)}: {points:g} of {possible:g}</h2>")
        body.append(f"<table>{head}{''.join(lines)}</table>" if lines else "")
    return PAGE.format(title=escape(assignment), body="\n".join(body))


def write_report(row: dict[str, Any], assignment: str, folder: Path) -> None:
    """Write a student's page to ``folder`` under the name that the submission has."""
    path = folder / f"{row['submission']}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report(row, assignment), "utf-8", errors="backslashreplace")


def summary(rows: list[dict[str, Any]]) -> str:
    """The class: how many of each status, a histogram for each question, what failed most."""
    status = Counter(row["status"] for row in rows)
    counted = ", ".join(f"{number} {name}" for name, number in status.most_common())
    graded = [row for row in rows if row["status"] != "not graded"]
    lines = [f"{len(rows)} submissions: {counted}", ""]
    for question in graded[0]["questions"] if graded else []:
        possible = graded[0]["possible"][question]
        points = Counter(row["questions"][question] for row in graded)
        mean = sum(value * number for value, number in points.items()) / len(graded)
        lines.append(f"{question}: mean {mean:.2f} of {possible:g}")
        widest = max(points.values())
        for value, number in sorted(points.items()):
            bar = "█" * max(1, round(40 * number / widest))
            lines.append(f"  {value:6.4g} {bar} {number}")
        lines.append("")
    kinds = {True: "hidden", False: "public"}
    failed = Counter(
        f"{case['question']}, {case['name']} ({kinds[case['hidden']]})"
        for row in graded
        for case in row["cases"]
        if not case["passed"]
    )
    lines.append("Tests that failed most often")
    lines += [f"  {number:4d}  {name}" for name, number in failed.most_common(10)]
    return "\n".join(lines) + "\n"
