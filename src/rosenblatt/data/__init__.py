"""Files to batches of rows; knows nothing of learning."""
