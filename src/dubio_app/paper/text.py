"""The paragraphs of the paper kit: sentences that are true of the run, in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dubio.charts import figures
from dubio.words import say, sentence
from dubio_app.paper.account import Account

#: Most features that the results describe one by one.
_DESCRIBED = 10

#: Each paragraph of the methods: its title, and its sentences with what must hold for each ("" for always).
METHODS: dict[str, tuple[tuple[str, str], ...]] = {
    "Table": (
        ("paper table", ""),
        ("paper labelled", "target"),
        ("paper unlabelled", "unlabelled"),
        ("paper left out", "left out"),
        ("paper missing cells", "missing cells"),
        ("paper no missing cells", "no missing cells"),
        ("paper groups", "groups"),
        ("paper corrected", "corrected"),
        ("paper weights", "weights"),
        ("paper sampled", "sampled"),
    ),
    "Selection of features": (
        ("paper method", ""),
        ("paper given", "given"),
        ("paper tested together", "tested together"),
        ("paper tested alone", "tested alone"),
        ("paper false discoveries", "tested"),
        ("paper not tested", "not tested"),
        ("paper checked", "checked"),
        ("paper effects", "effects"),
    ),
    "Checks of the answer": (
        ("paper stability", "stability"),
        ("paper evaluation", "evaluation"),
        ("paper audit", "audit"),
    ),
    "Software": (("paper software", ""), ("paper repeat", "")),
}
RESULTS: tuple[tuple[str, str], ...] = (
    ("paper flow", ""),
    ("paper kept", "kept"),
    ("paper sufficient", "sufficient"),
    ("paper nothing stands out", "nothing stands out"),
)
#: The works behind each sentence, by the keys of :data:`REFERENCES`.
CITED: dict[str, tuple[str, ...]] = {
    "paper tested together": ("box1955", "liu2020"),
    "paper false discoveries": ("benjamini1995",),
    "paper checked": ("angelopoulos2023",),
    "paper stability": ("nogueira2018",),
    "paper evaluation": ("nadeau2003",),
    "paper audit": ("northcutt2021",),
    "paper software": ("dubio", "pedregosa2011"),
}
REFERENCES: dict[str, dict[str, str]] = {
    "dubio": {
        "type": "software",
        "author": "{The dubio developers}",
        "title": "dubio: feature selection when the labels are in doubt",
        "year": "2026",
    },
    "pedregosa2011": {
        "type": "article",
        "author": 'Pedregosa, Fabian and Varoquaux, Ga{\\"e}l and Gramfort, Alexandre and others',
        "title": "Scikit-learn: Machine Learning in {Python}",
        "journal": "Journal of Machine Learning Research",
        "volume": "12",
        "pages": "2825--2830",
        "year": "2011",
    },
    "angelopoulos2023": {
        "type": "article",
        "author": "Angelopoulos, Anastasios N. and Bates, Stephen and Fannjiang, Clara and Jordan, Michael I. and "
        "Zrnic, Tijana",
        "title": "Prediction-Powered Inference",
        "journal": "Science",
        "volume": "382",
        "pages": "669--674",
        "year": "2023",
    },
    "benjamini1995": {
        "type": "article",
        "author": "Benjamini, Yoav and Hochberg, Yosef",
        "title": "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "journal": "Journal of the Royal Statistical Society: Series B",
        "volume": "57",
        "pages": "289--300",
        "year": "1995",
    },
    "box1955": {
        "type": "article",
        "author": "Box, George E. P. and Andersen, S. L.",
        "title": "Permutation Theory in the Derivation of Robust Criteria and the Study of Departures from Assumption",
        "journal": "Journal of the Royal Statistical Society: Series B",
        "volume": "17",
        "pages": "1--26",
        "year": "1955",
    },
    "liu2020": {
        "type": "article",
        "author": "Liu, Yaowu and Xie, Jun",
        "title": "Cauchy Combination Test: A Powerful Test With Analytic p-Value Calculation Under Arbitrary "
        "Dependency Structures",
        "journal": "Journal of the American Statistical Association",
        "volume": "115",
        "pages": "393--402",
        "year": "2020",
    },
    "nogueira2018": {
        "type": "article",
        "author": "Nogueira, Sarah and Sechidis, Konstantinos and Brown, Gavin",
        "title": "On the Stability of Feature Selection Algorithms",
        "journal": "Journal of Machine Learning Research",
        "volume": "18",
        "pages": "1--54",
        "year": "2018",
    },
    "nadeau2003": {
        "type": "article",
        "author": "Nadeau, Claude and Bengio, Yoshua",
        "title": "Inference for the Generalization Error",
        "journal": "Machine Learning",
        "volume": "52",
        "pages": "239--281",
        "year": "2003",
    },
    "northcutt2021": {
        "type": "article",
        "author": "Northcutt, Curtis G. and Jiang, Lu and Chuang, Isaac L.",
        "title": "Confident Learning: Estimating Uncertainty in Dataset Labels",
        "journal": "Journal of Artificial Intelligence Research",
        "volume": "70",
        "pages": "1373--1411",
        "year": "2021",
    },
}


def _true(account: Account, claims: Iterable[tuple[str, str]]) -> list[str]:
    """The codes of the claims that hold."""
    return [code for code, needed in claims if not needed or needed in account.holds]


def _said(account: Account, code: str, **more: Any) -> str:
    """The sentence of a code, with the works behind it."""
    text = say(code, **{**account.facts, "left_out": _left_out(account), **more})
    cited = "; ".join(f"@{key}" for key in CITED.get(code, ()))
    return sentence(f"{text} [{cited}]") if cited else sentence(text)


def _left_out(account: Account) -> list[str]:
    return [say("because of", name=name, why=why) if why else name for name, why in account.left_out.items()]


def methods(account: Account) -> str:
    """The methods as Markdown."""
    parts = {title: [_said(account, code) for code in _true(account, claims)] for title, claims in METHODS.items()}
    return _page("Methods", {title: " ".join(told) for title, told in parts.items() if told})


def results(account: Account) -> str:
    """The results as Markdown: what was found, each feature in one line, how sure it is, and what it does not say."""
    lead = " ".join([*(_said(account, code) for code in _true(account, RESULTS)), *account.facts["truth"]])
    judged = [row for row in account.rows if row["kept"] and row["feature"] not in account.facts["given"]]
    described = [_described(account, row) for row in judged[:_DESCRIBED]]
    parts = {"Features": "\n\n".join([lead, "\n".join(f"- {line}" for line in described)]).strip()}
    parts["Certainty"] = " ".join([*account.sure, *account.facts.get("worth", ())])
    parts["Limits"] = " ".join(sentence(say(code)) for code in ("paper not causal", "paper no evidence"))
    return _page("Results", parts)


def _described(account: Account, row: dict[str, Any]) -> str:
    """One feature: its place, its effect and its q-value."""
    facts = {"name": row["feature"], "rank": row["rank"] - account.ranking.n_given}
    if row.get("effect") is not None:
        low, high = row["effect_low"], row["effect_high"]
        facts |= {"effect": 100 * row["effect"], "low": 100 * low, "high": 100 * high, "direction": row["direction"]}
    if row.get("qvalue") is None:
        return say("paper feature untested", **facts)
    code = "paper feature with effect" if "effect" in facts else "paper feature"
    if "effect" in facts and row.get("effect_of"):
        code, facts["of"] = "paper feature on a class", row["effect_of"]
    line = say(code, **facts, pvalue=figures(row["pvalue"]), qvalue=figures(row["qvalue"]))
    if row.get("q_truth") is None:
        return line
    return say("paper feature and truth", line=line, verdict=row["verdict"], q_truth=figures(row["q_truth"]))


def _page(title: str, parts: dict[str, str]) -> str:
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in parts.items())
    return f"# {title}\n\n{body}\n"


def bibliography(account: Account) -> str:
    """The works that the methods cite, as BibTeX."""
    claims = [code for part in METHODS.values() for code in _true(account, part)]
    keys = sorted({key for code in claims for key in CITED.get(code, ())})
    entries = []
    for key in keys:
        fields = {name: value for name, value in REFERENCES[key].items() if name != "type"}
        if key == "dubio":
            fields["note"] = f"Version {account.facts['dubio']}"
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        entries.append(f"@{REFERENCES[key]['type']}{{{key},\n{lines}\n}}\n")
    return "\n".join(entries)
