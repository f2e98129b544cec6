"""The score card: every printed number and sentence once, recounted from the stored results."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from dubio_papers.experiment import PAPERS
from dubio_papers.score_card import as_csv, as_markdown, better, count, not_worse, score_card, the_same
from dubio_papers.sentences import SENTENCES
from dubio_papers.summary import from_json

PAGES = Path(__file__).parents[2] / "docs" / "papers"
#: How many numbers each paper prints in its tables and its text, without those of curves: counted by hand.
PRINTED = {"wls": 60, "lnt": 49, "csfs": 35, "ssfrfs": 72 + 84 + 84 + 8, "ssls": 9}


@pytest.fixture(scope="module")
def lines():
    return score_card(from_json((PAGES / "results.json").read_text(encoding="utf-8")), SENTENCES)


def test_every_printed_number_is_counted_once(lines):
    numbers = [line for line in lines if line.kind == "number"]
    assert {paper: sum(line.paper == paper for line in numbers) for paper in PAPERS} == PRINTED
    names = [(line.paper, line.section, line.text) for line in numbers]
    assert len(set(names)) == len(names)


def test_every_sentence_is_judged_or_says_why_not(lines):
    sentences = [line for line in lines if line.kind == "sentence"]
    assert len(sentences) == len(SENTENCES) == len({(line.paper, line.text) for line in sentences})
    for line, sentence in zip(sentences, SENTENCES, strict=True):
        assert (line.verdict == "not judged") == bool(sentence.why_not), line
        assert (sentence.checks is None) == bool(sentence.why_not)
        assert line.numbers


def test_the_published_card_is_what_the_results_say(lines):
    assert (PAGES / "score_card.csv").read_text(encoding="utf-8") == as_csv(lines)
    assert (PAGES / "score_card.md").read_text(encoding="utf-8") == as_markdown(lines)
    rows = list(csv.DictReader((PAGES / "score_card.csv").open(encoding="utf-8")))
    page = (PAGES / "README.md").read_text(encoding="utf-8")
    for paper in PAPERS:
        own = [row for row in rows if row["paper"] == paper]
        inside = sum(row["verdict"] == "inside" for row in own)
        judged = sum(row["verdict"] in ("inside", "outside") for row in own)
        hold = sum(row["verdict"] == "holds" for row in own)
        told = sum(row["verdict"] in ("holds", "in part", "does not hold") for row in own)
        numbers = count(lines, paper, "number")
        assert (numbers.good, numbers.judged) == (inside, judged)
        assert re.search(rf"\(#{paper}\) \| {inside} of {judged} \| {hold} of {told} \|", page)


def test_what_an_independent_count_found(lines):
    """Counted by a reader who went through the papers to the last line."""
    found = {(line.paper, line.section, line.text): line for line in lines}
    counts = {paper: count(lines, paper, "number") for paper in PAPERS}
    assert (counts["ssls"].good, counts["ssls"].judged) == (7, 9)
    assert (counts["ssfrfs"].good, counts["ssfrfs"].judged) == (90 + 8, 130 + 8)  # with Table 4, from Table 3
    sides = [line for line in lines if line.section.endswith("Sides of the map")]
    assert (sum(line.verdict == "inside" for line in sides), len(sides)) == (10, 16)

    def verdict(paper, words):
        (line,) = [line for key, line in found.items() if key[0] == paper and words in key[2]]
        return line.verdict, line.numbers

    assert verdict("wls", "the first 12")[0] == "in part" and verdict("wls", "the first 12")[1].startswith("2 of 4")
    assert verdict("wls", "best accuracy of all")[0] == "does not hold"
    assert verdict("wls", "more than 90 %")[1].startswith("3 of 4; not Y5")
    assert "wall robot" in verdict("lnt", "not degraded")[1]
    assert verdict("ssls", "of interest against correlation")[0] == "does not hold"


def test_rules_use_two_standard_errors():
    assert better("", 2.1, 1.0).holds and not better("", 1.9, 1.0).holds and not better("", 0.0, None).holds
    assert not_worse("", -1.9, 1.0).holds and not not_worse("", -2.1, 1.0).holds and not_worse("", 0.0, None).holds
    assert the_same("", -1.9, 1.0).holds and not the_same("", 2.1, 1.0).holds
