"""Speed, measured against the peers in one run."""
