"""Structures as policies see them: records that estimate, lead, weigh evidence and give rates."""
