"""What a kind of group is: how its operations change the life that they belong to."""
