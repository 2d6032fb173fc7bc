"""What becomes of a class's results: marks by hand join them, a table and pages are written."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import reports
from .assignments import AssignmentError, in_order

MARKS = "by-hand.csv"
COLUMNS = ["submission", "question", "maximum", "mark", "comment"]
Marks = dict[tuple[str, str], dict[str, Any]]


def write(
    rows: list[dict[str, Any]],
    assignment: str,
    tested: list[str],
    manual: dict[str, float],
    results: Path,
) -> list[dict[str, Any]]:
    """Write grades.csv, grades.json, the reports, and lines of by-hand.csv that wait for a mark.

    Args:
        rows: what the tests gave, a row a submission.
        assignment: its name, the title of the reports.
        tested: the questions that have tests.
        manual: the maximum of each question that is marked by hand.
        results: the folder; the marks are taken from its by-hand.csv.

    Returns:
        The rows with the questions marked by hand; one that is still open has None for its points.

    Raises:
        AssignmentError: a line of by-hand.csv is not about this class, or no possible mark.
    """
    marks = read_marks(results / MARKS, [row["submission"] for row in rows], manual)
    merged = [_merged(row, marks, manual) for row in rows]
    results.mkdir(parents=True, exist_ok=True)
    _ask_for_marks(merged, marks, results / MARKS)
    write_table(merged, in_order([*tested, *manual]), manual, results / "grades.csv")
    content = {"assignment": assignment, "tested": tested, "manual": manual, "rows": rows}
    (results / "grades.json").write_text(json.dumps(content), "utf-8")
    for row in merged:
        reports.write_report(row, assignment, results / "reports")
    return merged


def rewrite(results: Path) -> list[dict[str, Any]]:
    """The same from what an earlier ``write`` has left, with the marks that have come since."""
    return write(**json.loads((results / "grades.json").read_text("utf-8")), results=results)


def read_marks(path: Path, submissions: list[str], manual: dict[str, float]) -> Marks:
    """The filled-in lines of by-hand.csv: {(submission, question): its mark and its comment}.

    Lines without a mark are there with None. Raises AssignmentError with every line to be mended.
    """
    if not path.is_file():
        return {}
    names = {_cell(name): name for name in submissions}
    marks: Marks = {}
    wrong = []
    with open(path, newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
        table = csv.DictReader(file)
        if not set(COLUMNS[:4]) <= set(table.fieldnames or []):
            raise AssignmentError(f"{path}: its first line must be {','.join(COLUMNS)}")
        for line in table:
            name, question, mark = (line[c] or "" for c in ("submission", "question", "mark"))
            key, given = (names.get(name, name), question), _number(mark)
            if name not in names:
                problem = f"there is no submission {name}"
            elif question not in manual:
                problem = f"{question} is not marked by hand ({', '.join(manual) or 'none'})"
            elif key in marks:
                problem = f"{name} has two lines for {question}"
            elif mark.strip() and not 0 <= given <= manual[question]:
                problem = f"a mark for {question} is 0 to {manual[question]:g}, not {mark}"
            else:
                comment = line.get("comment") or ""
                marks[key] = {"mark": given if mark.strip() else None, "comment": comment}
                continue
            wrong.append(f"  line {table.line_num}: {problem}")
    if wrong:
        raise AssignmentError("\n".join([f"Mend {path}, then give the command again:", *wrong]))
    return marks


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")  # no mark: it lies in no interval


def _merged(row: dict[str, Any], marks: Marks, manual: dict[str, float]) -> dict[str, Any]:
    given = {q: marks.get((row["submission"], q), {}) for q in manual}
    nothing = 0.0 if row["status"] == "unreadable" else None
    by_hand = {q: nothing if (m := given[q].get("mark")) is None else m for q in manual}
    points, possible = row["questions"] | by_hand, row["possible"] | manual
    return {
        **row,
        "questions": {question: points[question] for question in in_order(points)},
        "possible": {question: possible[question] for question in in_order(possible)},
        "by_hand": {question: given[question].get("comment", "") for question in manual},
    }


def _ask_for_marks(rows: list[dict[str, Any]], marks: Marks, path: Path) -> None:
    """Append a line for each mark that is open and has none; what is there stays as it is."""
    lines = [
        [_cell(row["submission"]), question, f"{row['possible'][question]:g}", "", ""]
        for row in rows
        for question in row["by_hand"]
        if row["questions"][question] is None and (row["submission"], question) not in marks
    ]
    if not lines:
        return
    begun = path.read_bytes() if path.is_file() else b""
    with open(path, "a", newline="", encoding="utf-8", errors="surrogateescape") as file:
        if begun and not begun.endswith(b"\n"):
            file.write("\r\n")
        csv.writer(file).writerows(lines if begun else [COLUMNS, *lines])


def _cell(value: Any) -> Any:
    """A spreadsheet would take =... for a formula."""
    return f"'{value}" if str(value)[:1] in ("=", "+", "-", "@") else value


def write_table(
    rows: list[dict[str, Any]], questions: list[str], manual: dict[str, float], path: Path
) -> None:
    """One line a submission, in the order of their names; no points where it was not graded.

    ``open`` says how many points wait for a mark by hand; they are not in ``total``.
    """

    def line(row: dict[str, Any]) -> Iterator[Any]:
        points = row["questions"]
        yield row["submission"]
        yield row["status"]
        yield "" if row["status"] == "not graded" else f"{reports.total(row):g}"
        if manual:
            yield f"{reports.still_open(row):g}"
        for question in questions:
            yield "" if points.get(question) is None else f"{points[question]:g}"
        yield row["reason"]

    heads = [f"{q} by hand (of {manual[q]:g})" if q in manual else q for q in questions]
    still_open = ["open"] if manual else []
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        table = csv.writer(file)
        table.writerow(["submission", "status", "total", *still_open, *heads, "reason"])
        for row in rows:
            table.writerow([_cell(value) for value in line(row)])
