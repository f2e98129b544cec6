"""Scales in words: names of classes with an order of their own, such as "low, medium, high", and ranges of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

#: Words in their order, lowest first; words of one place mean the same.
_SCALES = tuple(
    tuple(frozenset(place.split("/")) for place in scale.split())
    for scale in (
        "none/absent/no very_low low/reduced medium/moderate/middle/normal/intermediate high/elevated/raised very_high",
        "none/absent/no minimal mild/slight moderate/medium severe/strong very_severe/critical/extreme",
        "never rarely/seldom sometimes/occasionally often/frequently always",
        "strongly_disagree disagree neutral/undecided agree strongly_agree",
        "very_poor poor/bad fair/acceptable good very_good excellent",
        "small medium/middle large very_large",
        "kein/keine/keiner sehr_niedrig niedrig/gering mittel/mäßig/normal hoch/erhöht sehr_hoch",
        "kein/keine/keiner leicht/leichte/leichter mittel/mittlere/mäßig/mittelschwer schwer/schwere/stark sehr_schwer",
        "nie selten manchmal/gelegentlich oft/häufig immer",
        "klein mittel groß sehr_groß",
        "aucun/aucune/absent très_faible faible/bas/basse moyen/moyenne/modéré/normal élevé/élevée/haut très_élevé",
        "aucun/aucune/absent léger/légère modéré/modérée/moyen sévère/grave très_sévère",
        "jamais rarement parfois souvent toujours",
        "žádný/žádná velmi_nízký nízký/nízká/nízké střední/normální vysoký/vysoká/vysoké velmi_vysoký",
        "žádný/žádná mírný/mírná střední těžký/těžká velmi_těžký",
        "nikdy zřídka někdy často vždy",
        "なし 低/低い 中/普通 高/高い 非常に高い",
        "なし 軽度/軽症 中等度/中等症 重度/重症 最重度",
    )
)
_ROMAN = re.compile(r"(?P<numeral>X|IX|IV|V?I{1,3}|V)(?P<part>[A-Da-d]?[1-3]?)")
_VALUES = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}
#: Ranges: "5-10", "5 to 10", "<5", "> 10", "10+", each perhaps with a unit.
_NUMBER = r"\d+(?:[.,]\d+)?"
_RANGE = re.compile(
    rf"(?P<limit><=?|>=?|[≤≥]|under |over |unter |über |bis )?\s*(?P<low>{_NUMBER})\s*(?P<unit>[^\W\d_]{{1,5}}|%)?"
    rf"(?:\s*(?:-|–|—|to|bis|à|až)\s*(?P<high>{_NUMBER})\s*(?:[^\W\d_]{{1,8}}|%)?|(?P<more>\s*\+))?\s*(?:[^\W\d_]{{1,8}}|%)?"
)
_BELOW = ("<", "<=", "≤", "under ", "unter ", "bis ")
#: Fewest and most different values of a scale: with two of them, an order says nothing more.
_FEWEST, _MOST = 3, 30


def levels_in_order(texts: Sequence[str]) -> list[str] | None:
    """The same texts, the lowest first, if they are values of a scale or ranges of numbers; else None.

    >>> from dubio.table.scales import levels_in_order
    >>> levels_in_order(["high", "Low", "medium"]), levels_in_order(["IV", "II", "I"])
    (['Low', 'medium', 'high'], ['I', 'II', 'IV'])
    >>> levels_in_order([">10", "5-10", "<5"]), levels_in_order(["red", "low", "high"])
    (['<5', '5-10', '>10'], None)
    """
    if not _FEWEST <= len(texts) <= _MOST:
        return None
    for places in (_of_words(texts), _of_numerals(texts), _of_ranges(texts)):
        if places is not None and len(set(places)) == len(places):
            return [text for _, text in sorted(zip(places, texts, strict=True))]
    return None


def _of_words(texts: Sequence[str]) -> list[float] | None:
    words = ["_".join(text.casefold().split()) for text in texts]
    for scale in _SCALES:
        place = {word: float(number) for number, group in enumerate(scale) for word in group}
        if all(word in place for word in words):
            return [place[word] for word in words]
    return None


def _of_numerals(texts: Sequence[str]) -> list[tuple[int, str]] | None:
    """Roman numerals, also parts of them (IIa, IIIB2); 0 may be beside them."""
    matches = [_ROMAN.fullmatch(text.strip()) for text in texts]
    if sum(match is not None for match in matches) < len(texts) - (("0" in texts) or 0):
        return None
    return [(0, "") if match is None else (_VALUES[match["numeral"]], match["part"].casefold()) for match in matches]


def _of_ranges(texts: Sequence[str]) -> list[tuple[float, float]] | None:
    """Ranges that do not overlap, at least one of which has two ends; numbers may be beside them."""
    matches = [_RANGE.fullmatch(text.strip()) for text in texts]
    if None in matches or not any(match["high"] for match in matches if match):
        return None
    if len({match["unit"] for match in matches if match and match["unit"]}) > 1:
        return None
    ends = [_ends(match) for match in matches if match]
    in_order = sorted(ends)
    apart = all(one[1] <= other[0] for one, other in pairwise(in_order))
    return ends if apart and all(low <= high for low, high in ends) else None


def _ends(match: re.Match[str]) -> tuple[float, float]:
    low, high = (float((match[part] or match["low"]).replace(",", ".")) for part in ("low", "high"))
    if match["limit"] in _BELOW:
        return float("-inf"), low
    return (low, float("inf")) if match["limit"] or match["more"] else (low, high)
