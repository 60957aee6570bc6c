"""The regret grid: its cells, statistics, standings and picture."""
