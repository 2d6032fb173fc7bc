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


def total(row: dict[str, Any]) -> float:
    """The points given so far."""
    return sum(points for points in row["questions"].values() if points is not None)


def still_open(row: dict[str, Any]) -> float:
    """The points that wait for a mark by hand."""
    return sum(row["possible"][q] for q in row["by_hand"] if row["questions"][q] is None)


def report(row: dict[str, Any], assignment: str) -> str:
    """A student's page: every test by name, its hint, and for public tests what was found.

    Hidden tests show neither inputs nor expected values. All text is escaped.
    """
    body = [f"<p>{escape(row['submission'])}</p>"]
    if row["status"] == "not graded":
        body.append("<p>Not graded, through no fault of yours. Your instructor will see to it.</p>")
    else:
        possible, later = sum(row["possible"].values()), still_open(row)
        more = f"; {later:g} are still to be marked by hand" if later else ""
        body.append(f"<p><strong>{total(row):g} of {possible:g} points</strong>{more}</p>")
    if row["reason"] and row["status"] != "not graded":
        items = "".join(f"<li>{escape(note)}" for note in row["reason"].split("; "))
        body.append(f"<p>While your notebook was run:</p><ul>{items}</ul>")
    for question, points in row["questions"].items():
        possible = row["possible"].get(question)
        if question in row["by_hand"]:
            given = "to be marked by hand," if points is None else f"{points:g}"
            body.append(f"<h2>{escape(question)}: {given} of {possible:g}</h2>")
            body.append(f"<p>{escape(row['by_hand'][question])}</p>")
            continue
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
    lines = [f"{len(rows)} submissions: {counted}"]
    if later := sum(still_open(row) for row in rows):
        lines.append(f"{later:g} points are still to be marked by hand; totals lack them")
    lines.append("")
    for question in graded[0]["questions"] if graded else []:
        possible = graded[0]["possible"][question]
        given = [row["questions"][question] for row in graded]
        points = Counter(value for value in given if value is not None)
        marked = sum(points.values())
        later = f" ({len(graded) - marked} to be marked by hand)" if marked < len(graded) else ""
        if not marked:
            lines += [f"{question}: of {possible:g}{later}", ""]
            continue
        mean = sum(value * number for value, number in points.items()) / marked
        lines.append(f"{question}: mean {mean:.2f} of {possible:g}{later}")
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
