"""Speed and memory of dubio against its peers, each case in a fresh process; only ratios mean anything."""
