"""Steps report and publish: tables from what was replayed."""
