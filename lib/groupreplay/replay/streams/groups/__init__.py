"""Tasks of a streams group (KIP-1071): what its records say of members, roles and epochs."""
