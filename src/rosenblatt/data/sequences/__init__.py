"""Sentences: read from files, made into columns of words, and encoded as features of tokens."""
