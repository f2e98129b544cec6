"""The real tables of the five papers: what each contains, where to find it, and how each paper changes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Filtering:
    """How a paper changes a table before it uses it, and how we know."""

    keep_classes: tuple[str, ...] = ()
    merge_classes: Mapping[str, str] = field(default_factory=dict)
    first_rows: int | None = None
    drop_columns: tuple[str, ...] = ()
    columns_through: tuple[str, str] | None = None
    why: str = ""


@dataclass(frozen=True)
class Entry:
    """One dataset.

    ``classes`` maps each class to its number of rows (empty for a numeric target). ``openml`` and ``bundled`` say where
    to find it. ``papers`` says how each paper changes it.
    """

    n_rows: int
    n_features: int
    title: str
    classes: Mapping[str, int] = field(default_factory=dict)
    openml: int | None = None
    bundled: str | None = None
    papers: Mapping[str, Filtering] = field(default_factory=dict)


_AS_IS = Filtering()
_SEGMENT = Filtering(
    drop_columns=("region_pixel_count",), why="a constant feature is left out, so that 18 features remain, as printed"
)

CATALOG: dict[str, Entry] = {
    "iris": Entry(
        150,
        4,
        "Iris (Fisher's values)",
        {"setosa": 50, "versicolor": 50, "virginica": 50},
        openml=61,
        bundled="iris",
        papers={"wls": _AS_IS, "lnt": _AS_IS, "csfs": _AS_IS},
    ),
    "breast_tissue": Entry(
        106,
        9,
        "Breast tissue impedances",
        {"adi": 22, "car": 21, "con": 14, "fad": 15, "gla": 16, "mas": 18},
        openml=1465,
        papers={
            "wls": Filtering(
                merge_classes={"fad": "fad+mas+gla", "mas": "fad+mas+gla", "gla": "fad+mas+gla"},
                why="the paper has four classes: fad, mas and gla are merged, as is usual on this table",
            )
        },
    ),
    "sonar": Entry(
        208, 60, "Sonar, mines vs. rocks", {"M": 111, "R": 97}, openml=40, papers={"wls": _AS_IS, "csfs": _AS_IS}
    ),
    "ecoli": Entry(
        336,
        7,
        "E. coli protein localisation",
        {"cp": 143, "im": 77, "pp": 52, "imU": 35, "om": 20, "omL": 5, "imL": 2, "imS": 2},
        openml=39,
        papers={
            "lnt": Filtering(
                keep_classes=("cp", "im", "pp", "imU", "om"),
                drop_columns=("chg",),
                why="only the five classes with more than 5 rows; then chg is constant and is left out",
            ),
            "ssfrfs": _AS_IS,
        },
    ),
    "glass": Entry(
        214,
        9,
        "Glass identification",
        {"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29},
        openml=41,
        papers={
            "lnt": Filtering(keep_classes=("1", "2", "7"), why="classes 1, 2 and 7, as the paper says"),
            "ssfrfs": _AS_IS,
        },
    ),
    "page_blocks": Entry(
        5473,
        10,
        "Page blocks",
        {"1": 4913, "2": 329, "3": 28, "4": 88, "5": 115},
        openml=30,
        papers={"lnt": _AS_IS},
    ),
    "segment": Entry(
        2310,
        19,
        "Image segmentation",
        dict.fromkeys(("brickface", "cement", "foliage", "grass", "path", "sky", "window"), 330),
        openml=36,
        papers={"lnt": _SEGMENT, "ssfrfs": _SEGMENT},
    ),
    "vehicle": Entry(
        846,
        18,
        "Vehicle silhouettes",
        {"bus": 218, "saab": 217, "opel": 212, "van": 199},
        openml=54,
        papers={
            "lnt": Filtering(
                first_rows=752,
                why="752 rows are eight of the nine parts; the paper does not say which, so we take the first eight",
            ),
            "ssfrfs": Filtering(why="846 rows: the printed 946 is a misprint"),
        },
    ),
    "vertebral_column": Entry(
        310,
        6,
        "Vertebral column",
        {"Spondylolisthesis": 150, "Normal": 100, "Hernia": 60},
        openml=1523,
        papers={"lnt": _AS_IS},
    ),
    "wall_robot": Entry(
        5456,
        24,
        "Wall-following robot",
        {"Move-Forward": 2205, "Sharp-Right-Turn": 2097, "Slight-Right-Turn": 826, "Slight-Left-Turn": 328},
        openml=1497,
        papers={"lnt": _AS_IS},
    ),
    "waveform": Entry(
        5000,
        40,
        "Waveform, version 2",
        {"0": 1692, "1": 1653, "2": 1655},
        openml=60,
        papers={"lnt": _AS_IS},
    ),
    "wine": Entry(
        178,
        13,
        "Wine cultivars",
        {"1": 59, "2": 71, "3": 48},
        openml=187,
        bundled="wine",
        papers={"lnt": _AS_IS, "ssfrfs": _AS_IS},
    ),
    "yeast": Entry(
        1484,
        8,
        "Yeast protein localisation",
        {
            "CYT": 463,
            "NUC": 429,
            "MIT": 244,
            "ME3": 163,
            "ME2": 51,
            "ME1": 44,
            "EXC": 35,
            "VAC": 30,
            "POX": 20,
            "ERL": 5,
        },
        openml=181,
        papers={
            "lnt": Filtering(
                keep_classes=("CYT", "NUC", "MIT", "ME3"),
                why="the four largest classes have 1299 rows; the paper prints 1296",
            )
        },
    ),
    "ionosphere": Entry(
        351,
        34,
        "Ionosphere radar",
        {"g": 225, "b": 126},
        openml=59,
        papers={
            "csfs": _AS_IS,
            "ssfrfs": Filtering(first_rows=230, why="the first 230 rows reproduce the printed sizes; all 351 do not"),
        },
    ),
    "soybean_small": Entry(
        47, 35, "Soybean diseases, small", {"D1": 10, "D2": 10, "D3": 10, "D4": 17}, papers={"csfs": _AS_IS}
    ),
    "leukemia": Entry(72, 7129, "Leukemia", {"ALL": 47, "AML": 25}, openml=1104, papers={"csfs": _AS_IS}),
    "colon": Entry(62, 2000, "Colon cancer", {"tumor": 40, "normal": 22}, papers={"csfs": _AS_IS}),
    "pie10p": Entry(
        210,
        2420,
        "Faces, PIE10P",
        {str(person): 21 for person in range(1, 11)},
        papers={"csfs": Filtering(why="2420 pixels; the paper prints 2400")},
    ),
    "pix10p": Entry(100, 10000, "Faces, PIX10P", {str(person): 10 for person in range(1, 11)}, papers={"csfs": _AS_IS}),
    "australian": Entry(690, 14, "Australian credit", {"0": 383, "1": 307}, openml=40981, papers={"ssfrfs": _AS_IS}),
    "cleveland": Entry(
        303,
        13,
        "Cleveland heart disease",
        {"0": 164, "1": 55, "2": 36, "3": 35, "4": 13},
        papers={"ssfrfs": Filtering(why="6 cells are missing and stay missing")},
    ),
    "heart_statlog": Entry(
        270, 13, "Heart, Statlog", {"absent": 150, "present": 120}, openml=53, papers={"ssfrfs": _AS_IS}
    ),
    "olitos": Entry(120, 25, "Olive oils", {"1": 50, "2": 25, "3": 34, "4": 11}, papers={"ssfrfs": _AS_IS}),
    "water_treatment": Entry(
        527,
        38,
        "Water treatment plant, UCI's full table",
        {
            "1": 275,
            "5": 116,
            "9": 69,
            "11": 53,
            "4": 4,
            "6": 3,
            **dict.fromkeys(["2", "3", "7", "8", "10", "12", "13"], 1),
        },
    ),
    "delve_census": Entry(
        2048,
        137,
        "Delve census-house, first 2048 places by state",
        papers={
            "ssls": Filtering(
                columns_through=("P0010001", "H018A002"),
                why="104 features: we take Delve's columns 3 to 106, to match the number in the paper",
            )
        },
    ),
    "delve_census_random_order": Entry(
        2048,
        137,
        "Delve census-house, first 2048 places in random order",
        papers={"ssls": Filtering(columns_through=("P0010001", "H018A002"), why="104 features, as in delve_census")},
    ),
    "pollen": Entry(
        3848,
        4,
        "Pollen grains (synthetic), density",
        openml=529,
        papers={"ssls": Filtering(first_rows=481, why="481 rows: the first of StatLib's eight parts")},
    ),
    "diabetes": Entry(
        442,
        10,
        "Diabetes progression",
        bundled="diabetes",
        papers={"ssls": Filtering(why="not in the paper: added because everybody has this table")},
    ),
}

#: Tables without a public copy, and the reason.
UNAVAILABLE: dict[str, str] = {
    "orange_juice": "218 near-infrared spectra of orange juice; the page that offered them is gone",
    "nitrogen": "141 near-infrared spectra of grass; the page that offered them is gone",
    "water2": "390 rows of the water treatment table, filled in and merged into 2 classes in a way not described",
    "water3": "390 rows of the water treatment table, filled in and merged into 3 classes in a way not described",
}
