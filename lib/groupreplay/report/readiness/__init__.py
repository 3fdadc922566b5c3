"""The rules of table `readiness`: pure functions of what is known of one group."""
