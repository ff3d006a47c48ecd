"""A service of models that learn while they answer, and forget when asked: HTTP over a journal."""
