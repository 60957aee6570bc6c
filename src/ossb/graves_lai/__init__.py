"""The Graves–Lai program: its bounds, their proofs, and the solvers of each structure."""
