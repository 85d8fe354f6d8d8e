"""Rules and selectors over one document: Dolma's JSONPath, jq, and the replacements of spans.

Expressions are compiled before any data is read. Nothing here reads files or knows recipes.
"""
