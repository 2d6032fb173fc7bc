"""Marks by hand: asked for, merged, checked; and never in the way of what the tests gave."""

import csv

import pytest

from icgd_grading import gradebook, reports
from icgd_grading.assignments import AssignmentError

MANUAL = {"q2": 8.0, "q10": 4.0}


def row(name, status="graded", q1=3.0):
    """What a judge gives: points of q1, of 5."""
    return {
        "submission": name,
        "status": status,
        "reason": "",
        "questions": {"q1": q1},
        "possible": {"q1": 5.0},
        "cases": [],
    }


ROWS = [row("=a.ipynb"), row("b.ipynb"), row("c.ipynb", "not graded", None)]
ROWS.append(row("d.ipynb", "unreadable", 0.0))


@pytest.fixture
def results(tmp_path):
    gradebook.write(ROWS, "trial", ["q1"], MANUAL, tmp_path)
    return tmp_path


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill_in(results, *marks):
    """Marks in the order of the lines that wait for one, as an instructor types them."""
    path = results / "by-hand.csv"
    lines = path.read_text("utf-8").splitlines()
    for number, mark in enumerate(marks, start=1):
        lines[number] = lines[number].removesuffix(",,") + f",{mark}"
    path.write_text("\n".join(lines), "utf-8")  # no newline at its end


def test_every_question_by_hand_has_a_line_that_waits_and_a_column(results):
    lines = table(results / "by-hand.csv")
    waiting = [(line["submission"], line["question"], line["maximum"]) for line in lines]
    names = ("'=a.ipynb", "b.ipynb", "c.ipynb")  # in what cannot be read there is no proof
    assert waiting == [(name, q, str(int(MANUAL[q]))) for name in names for q in MANUAL]
    grades = table(results / "grades.csv")
    columns = ["q1", "q2 by hand (of 8)", "q10 by hand (of 4)"]
    assert list(grades[0]) == ["submission", "status", "total", "open", *columns, "reason"]
    assert [line["total"] for line in grades] == ["3", "3", "", "0"]
    assert [line["open"] for line in grades] == ["12", "12", "12", "0"]
    assert [line[columns[1]] for line in grades] == ["", "", "", "0"]


def test_marks_are_merged_and_what_is_open_is_told(results):
    fill_in(results, "7.5,a gap in step 2 <b>", "4,", "0,")
    a, b, c, d = gradebook.rewrite(results)
    assert a["questions"] == {"q1": 3, "q2": 7.5, "q10": 4}
    assert [reports.total(r) for r in (a, b, c, d)] == [14.5, 3, 0, 0]
    assert [reports.still_open(r) for r in (a, b, c, d)] == [0, 4, 12, 0]
    assert [line["total"] for line in table(results / "grades.csv")] == ["14.5", "3", "", "0"]
    page = (results / "reports/=a.ipynb.html").read_text("utf-8")
    assert "14.5 of 17 points</strong></p>" in page
    assert "q2: 7.5 of 8" in page
    assert "a gap in step 2 &lt;b&gt;" in page
    page = (results / "reports/b.ipynb.html").read_text("utf-8")
    assert "3 of 17 points</strong>; 4 are still to be marked by hand" in page
    assert "q10: to be marked by hand, of 4" in page
    text = reports.summary([a, b, c, d])
    assert "16 points are still to be marked by hand" in text
    assert "q2: mean 2.50 of 8" in text, "7.5, 0 and nothing for the unreadable one"
    assert "q10: mean 2.00 of 4 (1 to be marked by hand)" in text


def test_a_new_submission_is_added_and_no_mark_is_touched(results):
    fill_in(results, "8,")
    before = (results / "by-hand.csv").read_bytes()
    late = [*ROWS, row("late.ipynb")]
    gradebook.write(late, "trial", ["q1"], MANUAL, results)
    after = (results / "by-hand.csv").read_bytes()
    assert after.startswith(before)
    lines = table(results / "by-hand.csv")
    assert [line["submission"] for line in lines[6:]] == ["late.ipynb"] * 2
    gradebook.write(late, "trial", ["q1"], MANUAL, results)
    assert (results / "by-hand.csv").read_bytes() == after


def test_what_a_spreadsheet_saves_is_read(results):
    path = results / "by-hand.csv"
    text = path.read_text("utf-8").replace("b.ipynb,q2,8,,", "b.ipynb,q2,8,6,")
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert gradebook.rewrite(results)[1]["questions"]["q2"] == 6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nobody.ipynb,q2,8,1,", "line 2: there is no submission nobody.ipynb"),
        ("b.ipynb,q1,5,1,", "line 2: q1 is not marked by hand (q2, q10)"),
        ("b.ipynb,q2,8,8.5,", "line 2: a mark for q2 is 0 to 8, not 8.5"),
        ("b.ipynb,q2,100,9,", "line 2: a mark for q2 is 0 to 8, not 9"),
        ("b.ipynb,q2,8,-1,", "line 2: a mark for q2 is 0 to 8, not -1"),
        ("b.ipynb,q2,8,nan,", "line 2: a mark for q2 is 0 to 8, not nan"),
        ("b.ipynb,q2,8,good,", "line 2: a mark for q2 is 0 to 8, not good"),
        ("b.ipynb,q2,8,1,\nb.ipynb,q2,8,2,", "line 3: b.ipynb has two lines for q2"),
    ],
)
@pytest.mark.bad_input
def test_marks_that_cannot_be_are_refused(results, line, message):
    (results / "by-hand.csv").write_text(f"submission,question,maximum,mark,comment\n{line}\n")
    before = (results / "grades.csv").read_bytes()
    with pytest.raises(AssignmentError, match=r"Mend .*by-hand.csv") as refused:
        gradebook.rewrite(results)
    assert message in str(refused.value)
    assert (results / "grades.csv").read_bytes() == before


@pytest.mark.bad_input
def test_a_file_without_its_columns_is_refused(results):
    (results / "by-hand.csv").write_text("name;question;mark\nb.ipynb;q2;3\n")
    with pytest.raises(AssignmentError, match="its first line must be submission,question"):
        gradebook.rewrite(results)


def test_a_class_without_marks_by_hand_has_neither_file_nor_column(tmp_path):
    gradebook.write(ROWS, "trial", ["q1"], {}, tmp_path)
    assert not (tmp_path / "by-hand.csv").exists()
    assert list(table(tmp_path / "grades.csv")[0])[2:4] == ["total", "q1"]
