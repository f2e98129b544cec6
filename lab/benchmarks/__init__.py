"""Speed and memory of dubio compared with its peers. Each case runs in a fresh process; compare only ratios."""
