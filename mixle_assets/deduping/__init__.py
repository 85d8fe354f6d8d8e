"""Which documents and paragraphs repeat an earlier one: hashes per shard, one index, attributes per file.

```
 documents ──► content_hashes ──► duplicate_index ──► duplicate_attributes
  a shard         a shard          all, then a slice    an input file
                                   for each shard
```

Nothing is dropped here: a rule or a span replacement of the recipe names the attributes.
"""

from mixle_assets.deduping.attributes import SET_NAME, AttributeTask, write_duplicate_attributes
from mixle_assets.deduping.hashes import HashTask, hash_shard
from mixle_assets.deduping.index import IndexTask, build_index
from mixle_assets.deduping.members import HashedReference, HashedShard

__all__ = [
    "SET_NAME",
    "AttributeTask",
    "HashTask",
    "HashedReference",
    "HashedShard",
    "IndexTask",
    "build_index",
    "hash_shard",
    "write_duplicate_attributes",
]
