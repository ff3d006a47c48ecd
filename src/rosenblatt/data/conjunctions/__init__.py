"""Conjunctions of features: pairs and triples of those that are present in a row."""
