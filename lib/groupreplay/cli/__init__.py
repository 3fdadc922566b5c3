"""What a job is from outside: options, session, exit status, and what it prints."""
