// How a search weighs what it finds. Sphinx's numbers, and first what is named like the query: a statement, an exercise, a section.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename]) => (anchor ? score + 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
