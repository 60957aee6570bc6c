"""Experiments: grids of policy × instance × trials, with a ledger, figures and reports."""
