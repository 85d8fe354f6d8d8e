"""Mixed shards to doc arrays: every document's token ids, nothing between them and nothing around them."""
