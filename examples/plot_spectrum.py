"""
Windows of a spectrum
=====================

A spectrum of 300 channels is not 300 features: channels that are near each other show the same band. Windows of ten
channels are made one feature each, so that the answer is a list of bands.
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector

rng = np.random.default_rng(0)
channel = np.arange(300)
kind = rng.integers(0, 2, 120)


def band(centre, width):
    """A bell-shaped band."""
    return np.exp(-0.5 * ((channel - centre) / width) ** 2)


# Broad bands that differ from sample to sample, two narrow ones that differ by class, and the noise of the device.
broad = sum(rng.normal(1, 0.3, (120, 1)) * band(centre, 40) for centre in (60, 150, 240))
spectra = broad + 0.25 * kind[:, None] * (band(95, 4) - band(205, 4)) + 0.1 * rng.normal(size=(120, 300))

windows = {f"{start}-{start + 9}": list(range(start, start + 10)) for start in range(0, 300, 10)}
selector = FeatureSelector(feature_groups=windows).fit(spectra, kind)
ranking = selector.to_ranking()
kept = ranking.names[ranking.support]
true = [name for name, channels in windows.items() if set(channels) & {95, 205}]
print(ranking.headline())
print(f"windows that hold the middle of a band that differs: {', '.join(true)}; found: {set(true) <= set(kept)}")

# %%
# On average, at most 5 % of the windows kept are there by chance. In a single table it can be more, or none.
#
# The mean spectra of the two classes, and the windows that are kept.
plt.figure(figsize=(8, 3.5))
plt.plot(channel, spectra[kind == 0].mean(axis=0), color="#40506b", label="first class")
plt.plot(channel, spectra[kind == 1].mean(axis=0), color="#b4441c", linestyle="--", label="second class")
for name in kept:
    plt.axvspan(windows[name][0], windows[name][-1], color="#0b6e6e", alpha=0.2)
plt.xlabel("channel (shaded: windows that are kept)")
plt.ylabel("mean intensity")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Mean spectra of two classes, with shaded windows of channels where the spectra differ."
