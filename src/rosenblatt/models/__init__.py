"""Model, the one fitted thing: it scores, predicts, explains, is judged, saved and loaded."""
