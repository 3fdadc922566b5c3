"""The rules of the protocol, and the checks that judge a log by them."""
