"""The Graves–Lai program of any structure: finite, convex piece by piece, or given by an oracle."""
