"""Who holds what in one life of a group: members, owners, epochs, stalls."""
