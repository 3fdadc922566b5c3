"""What the nights before left: which ran, their plans, states and raw rows."""
