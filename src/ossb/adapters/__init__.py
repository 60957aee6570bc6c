"""Bridges to other packages; each imports the other package where it is used."""
