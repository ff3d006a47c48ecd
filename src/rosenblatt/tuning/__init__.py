"""The choice of a learner: recipes judged on folds of the rows, and the best of many found."""
