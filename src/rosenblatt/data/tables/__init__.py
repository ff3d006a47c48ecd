"""Tabular files as tables of named columns, in memory that does not grow with the files."""
