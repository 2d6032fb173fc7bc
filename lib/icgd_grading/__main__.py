"""The instructor's commands: python -m icgd_grading --help."""

import argparse
import sys
from pathlib import Path

from . import assignments, classroom, gradebook, reports
from .assignments import Assignment, AssignmentError
from .sandbox import SandboxError

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "assignments"
BUILD = REPOSITORY / "_build" / "assignments"


def made(name: str) -> Assignment:
    """The assignment ``name``, made if need be."""
    return assignments.make(name, SOURCE, BUILD)


def assign(args: argparse.Namespace) -> None:
    """Make the students' version, the solution and the autograder of every assignment."""
    for name in args.names or assignments.names(SOURCE):
        print(f"{name}: {made(name).folder}")


def bundle(args: argparse.Namespace) -> None:
    """Make the students' zip."""
    chosen = [made(name) for name in args.names or assignments.names(SOURCE)]
    if not chosen:
        raise AssignmentError(f"There is no assignment in {SOURCE}.")
    print(assignments.bundle(chosen, REPOSITORY, BUILD / "icgd-problem-sets.zip"))


def grade(args: argparse.Namespace) -> None:
    """Grade a folder of submissions."""
    if not args.folder.is_dir():
        raise AssignmentError(f"{args.folder} is not a folder of submissions.")
    results = args.results or args.folder.with_name(args.folder.name + "-graded")
    rows = classroom.grade(
        made(args.assignment),
        args.folder,
        results,
        jobs=args.jobs,
        sandboxed=not args.without_sandbox,
        private=(SOURCE,),
    )
    print(reports.summary(rows))
    print(*(results / name for name in ("grades.csv", gradebook.MARKS, "reports")), sep="\n")


def summarise(args: argparse.Namespace) -> None:
    """Summarise the results of a class, with the marks by hand that have come since."""
    grades = args.results / "grades.json"
    if not grades.is_file():
        raise AssignmentError(f"There is no {grades}: name the folder that grading wrote.")
    print(reports.summary(gradebook.rewrite(args.results)))


def main(argv: list[str] | None = None) -> None:
    """Run one command."""
    top = argparse.ArgumentParser(prog="icgd_grading", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for function in (assign, bundle, grade, summarise):
        sub = commands.add_parser(function.__name__, help=function.__doc__)
        sub.set_defaults(function=function)
        if function in (assign, bundle):
            sub.add_argument("names", nargs="*", help="assignments (all)")
        elif function is grade:
            sub.add_argument("assignment", help="a folder's name in assignments/")
            sub.add_argument("folder", type=Path, help="the submissions")
            sub.add_argument("--results", type=Path, help="where to write (FOLDER-graded)")
            sub.add_argument("--jobs", type=int, default=2, help="at a time (%(default)s)")
            sub.add_argument("--without-sandbox", action="store_true", help="see what it prints")
        else:
            sub.add_argument("results", type=Path, help="the folder that grading wrote")
    args = top.parse_args(argv)
    try:
        args.function(args)
    except (AssignmentError, SandboxError) as error:
        sys.exit(f"\n{error}")


if __name__ == "__main__":
    main()
