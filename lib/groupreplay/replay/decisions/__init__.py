"""What a platform team decides by: machines beside those of members and partitions."""
