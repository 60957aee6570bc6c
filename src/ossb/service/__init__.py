"""Campaigns over HTTP, and the live page."""
