"""The pages' texts as they are put together for the PDF."""

import book_pdf

PAGE = """<article class="bd-article" id="x"><h1>Flow</h1><section id="start"><h2>Start</h2>
<a href="other.html#end">there</a><a href="#start">here</a><a href="https://example.org">out</a>
<a href="missing.html">gone</a><details><summary>Hint 1</summary><p>Divide.</p></details>
<script>alert()</script><img loading="lazy" src="../_images/f.svg"></section></article>"""


def article(folder):
    (folder / "chapters").mkdir()
    (folder / "chapters/flow.html").write_text(PAGE, "utf-8")
    return book_pdf.article(folder, "chapters/flow", ["chapters/flow", "chapters/other"])


def test_links_lead_inside_the_one_file_or_out_of_the_book(tmp_path):
    links = [link.get("href") for link in article(tmp_path).select("a")]
    assert links == ["#other--end", "#flow--start", "https://example.org", None]


def test_what_is_folded_on_the_page_is_open_on_paper(tmp_path):
    text = article(tmp_path)
    assert all(folded.has_attr("open") for folded in text.select("details"))
    assert not text.select("script")
    assert text.select_one("img")["src"] == "../html/chapters/../_images/f.svg"


def test_headings_are_named_by_page_and_section(tmp_path):
    found = book_pdf.headings("chapters/flow", article(tmp_path))
    assert found == [("h1", "flow", "Flow"), ("h2", "flow--start", "Start")]
