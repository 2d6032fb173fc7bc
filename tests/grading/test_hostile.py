"""Every hostile notebook ends as one row with its reason, without a point it has not earned."""

import re
import socket

import pytest
import trial
from hostile import ATTACKS, HONEST

from icgd_grading.sandbox import Limits

QUICK = Limits(call=1, cell=1, total=20, memory=(3 << 30) + 77)  # known by its memory


@pytest.fixture(scope="module")
def graded(grade, light):
    """All attacks in one class, with two honest students among them."""
    before = {path: path.read_bytes() for path in light.folder.rglob("*") if path.is_file()}
    files = {f"{name}.ipynb": attack.content for name, attack in ATTACKS.items()}
    server = socket.create_server(("127.0.0.1", 0))  # that a notebook must not reach
    port = str(server.getsockname()[1]).encode()
    files["sockets.ipynb"] = files["sockets.ipynb"].replace(b"48763", port)
    good = trial.notebook([HONEST])
    files |= {"a-good-student.ipynb": good, "z-good-student.ipynb": good}
    rows, results = grade(light, files, limits=QUICK, jobs=3)  # some only wait
    server.close()
    after = {path: path.read_bytes() for path in light.folder.rglob("*") if path.is_file()}
    assert after == before
    return rows, results


def points(row):
    return sum(row["questions"].values())


def test_there_are_at_least_thirty_attacks():
    assert len(ATTACKS) >= 30


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_ends_as_a_row_with_its_reason(graded, name):
    rows, _ = graded
    row, attack = rows[f"{name}.ipynb"], ATTACKS[name]
    assert row["status"] == attack.status, row["reason"]
    assert re.search(attack.reason, row["reason"]), row["reason"]
    assert points(row) == attack.points, row["cases"]


def test_nobody_else_is_harmed(graded):
    rows, results = graded
    assert len(rows) == len(ATTACKS) + 2
    for name in ("a-good-student.ipynb", "z-good-student.ipynb"):
        assert points(rows[name]) == 5, rows[name]["reason"]
    table = (results / "grades.csv").read_text("utf-8").splitlines()
    assert len(table) == len(rows) + 1


def test_reports_escape_what_students_wrote(graded):
    _, results = graded
    page = (results / "reports/markup.ipynb.html").read_text("utf-8")
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_nothing_is_left_running(graded):
    assert not trial.running(str(QUICK.memory))
