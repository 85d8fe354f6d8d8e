"""One graph of Dagster assets from documents to language-model training batches."""
