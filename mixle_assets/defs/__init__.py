"""The graph: recipes as Dagster assets, checks and jobs. Alone in knowing Dagster; no work is done here.

An asset takes its partitions, asks the pipeline to bring them up to date and reports what it says. Modules
here leave out ``from __future__ import annotations``: Dagster reads the annotations.
"""
