"""What pages ask the tables of a night: frames whose columns are the fields of their model."""
