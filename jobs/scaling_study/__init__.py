"""Scaling studies: what jobs/scaling.py runs, keeps, collects and draws."""
