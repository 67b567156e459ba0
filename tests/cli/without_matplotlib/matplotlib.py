"""Hides matplotlib from scripts, which then draw no pictures."""

raise ImportError("no matplotlib")
