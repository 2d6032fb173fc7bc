"""Grading notebooks that may be hostile: a trusted judge, and a worker in a sandbox.

otter-grader makes the assignments, the students' public checks and the test files, and counts the
points. This package only decides where code runs. The ``judge`` runs the assignment's tests; each
of the student's functions that they call is a stand-in, which asks over a ``wire`` that carries
plain data only. A ``worker`` answers: it runs the student's notebook in a ``sandbox``, and is
believed nothing but the student's answers.
"""
