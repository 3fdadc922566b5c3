"""Where raw rows come from: listing and opening of files, what kind each is, what a night reads of them, and the reading itself on a worker."""
