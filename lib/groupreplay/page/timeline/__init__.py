"""The night of one group as a drawing: lanes of clients over an axis that folds quiet time."""
