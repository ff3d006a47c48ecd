"""Why training ended as it did: margin, separability with proof, bounds, cycles."""
