"""Minimal exploration for structured bandits."""
