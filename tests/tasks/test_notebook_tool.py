"""tools/notebooks.py: one form for every committed chapter, whoever ran it and wherever."""

import nbformat
import pytest

V4 = nbformat.v4


def executed(tags=("keep_output",), outputs=None, count=7):
    """A notebook as JupyterLab leaves it."""
    printed = [
        V4.new_output("stream", name="stdout", text=t) for t in ("predicted\n", "measured\n")
    ]
    code = V4.new_code_cell("print(1)\n", outputs=printed if outputs is None else outputs)
    code.execution_count = count
    code.metadata = nbformat.from_dict(
        {"tags": list(tags), "execution": {"iopub.status": "now"}, "collapsed": True}
    )
    notebook = V4.new_notebook(cells=[V4.new_markdown_cell("# Title"), code])
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"name": "conda", "display_name": "mine"}, "widgets": {"state": 1}}
    )
    return notebook


def test_kept_output_is_one_text(notebook_tool):
    cell = notebook_tool.tidy(executed()).cells[1]
    assert [output.text for output in cell.outputs] == ["predicted\nmeasured\n"]
    assert cell.execution_count == 1
    assert cell.metadata == {"tags": ["keep_output"]}


def test_other_outputs_go(notebook_tool):
    cell = notebook_tool.tidy(executed(tags=())).cells[1]
    assert cell.outputs == []
    assert cell.execution_count is None


@pytest.mark.parametrize(
    "output",
    [
        V4.new_output("display_data", data={"image/svg+xml": "<svg/>"}),
        V4.new_output("execute_result", data={"text/plain": "1"}, execution_count=1),
        V4.new_output("stream", name="stderr", text="Warning"),
    ],
)
def test_only_printed_text_is_kept(notebook_tool, output):
    with pytest.raises(notebook_tool.UntidyOutput, match="may only print"):
        notebook_tool.tidy(executed(outputs=[output]))


def test_result_depends_on_the_sources_only(notebook_tool):
    one = notebook_tool.as_text(notebook_tool.tidy(executed()))
    two = notebook_tool.as_text(notebook_tool.tidy(executed(count=1)))
    again = notebook_tool.as_text(notebook_tool.tidy(nbformat.reads(one, as_version=4)))
    assert one == two == again
    assert "conda" not in one


def test_ids_follow_the_sources(notebook_tool):
    cells = [V4.new_markdown_cell(source) for source in ("a", "b", "a")]
    ids = notebook_tool.cell_ids(cells)
    assert len(set(ids)) == 3
    moved = notebook_tool.cell_ids([V4.new_markdown_cell("new"), *cells])
    assert moved[1:] == ids, "a new cell must not rename the others"
    assert notebook_tool.cell_ids([V4.new_code_cell("a")]) != ids[:1]


def test_colab_needs_an_address(notebook_tool):
    notebook = executed()
    notebook_tool.start_on_colab(notebook, "https://github.com/OWNER/course", "main")
    assert len(notebook.cells) == 2


def test_colab_starts_with_the_course_and_others_with_nothing(notebook_tool):
    notebook = executed()
    for _ in range(2):  # a second time changes nothing
        notebook_tool.start_on_colab(notebook, "https://github.com/someone/course", "dev")
    first = notebook.cells[0]
    assert len(notebook.cells) == 3
    assert "-b dev https://github.com/someone/course" in first.source
    assert "remove-cell" in first.metadata["tags"]
    guard, commands = first.source.split('if "google.colab" in sys.modules:\n')
    assert not set(guard) & set("!%")
    assert all(line.startswith("    ") for line in commands.splitlines())
    notebook_tool.start_on_colab(notebook, "https://github.com/OWNER/course", "main")
    assert len(notebook.cells) == 2, "an address that is no longer known takes the cell with it"
