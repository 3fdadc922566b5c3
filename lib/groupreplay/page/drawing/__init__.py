"""What all pages are drawn with: markup, words, charts, parts, and the shell around them."""
