"""Opens an export with the reader it is for, whole as its package ships it, and prints what came out as JSON.

    python whole_readers.py olmo|olmo_rows|megatron|litdata|mds FOLDER DTYPE LENGTH

Run by the environment of ``install_readers.py``. ``LENGTH`` is of the rows that the reader packs by itself.
Stand-ins are there only for torchvision and transformers, which mosaicml-streaming imports for data sets of
images and for tokenizers.
"""

import json
import sys
import types
from pathlib import Path

import numpy as np


def read_olmo(folder, dtype, length):
    from olmo_core.data import NumpyFSLDataset
    from olmo_core.data.utils import iter_document_indices, load_array_slice

    kind = getattr(np, dtype)
    paths = sorted(map(str, Path(folder).glob("*.npy")))
    found = {}
    # Where documents end is told by the list beside the file or, by default, by their boundaries.
    for how, options in {
        "by list": {"use_array_if_local": False, "dtype": kind},
        "by boundary": {"eos_token_id": 2, "dtype": kind},
    }.items():
        found[how] = [
            load_array_slice(path, start, end, kind).tolist()
            for path in paths
            for start, end in iter_document_indices(path, **options)
        ]
    dataset = NumpyFSLDataset(
        *paths, sequence_length=length, pad_token_id=0, eos_token_id=2, vocab_size=2**32, dtype=kind
    )
    dataset.prepare()
    found["rows"] = [dataset[row]["input_ids"].tolist() for row in range(len(dataset))]
    return found


def read_olmo_rows(folder, dtype, length):
    import torch
    from olmo_core.data import NumpyFSLDataset
    from olmo_core.data.utils import get_labels

    dataset = NumpyFSLDataset(
        f"{folder}/rows.npy", label_mask_paths=[f"{folder}/label_mask/rows.npy"], sequence_length=length,
        pad_token_id=0, eos_token_id=2, vocab_size=2**32, dtype=getattr(np, dtype),
    )  # fmt: skip
    dataset.prepare()
    samples = [dataset[row] for row in range(len(dataset))]
    batch = {key: torch.stack([sample[key] for sample in samples]) for key in ("input_ids", "label_mask")}
    return {"input_ids": batch["input_ids"].tolist(), "labels": get_labels(batch).tolist()}


def read_megatron(folder, _, length):
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from megatron.core.datasets.indexed_dataset import IndexedDataset
    from megatron.core.datasets.utils import Split

    tokenizer = types.SimpleNamespace(eod=2, pad=-1, vocab_size=65536, unique_identifiers={})
    unmasked = dict.fromkeys(
        ("reset_position_ids", "reset_attention_mask", "eod_mask_loss", "create_attention_mask"), False
    )
    config = GPTDatasetConfig(
        random_seed=1, sequence_length=length, tokenizer=tokenizer, blend=None, split=None, **unmasked
    )
    found = {"documents": [], "order": [], "rows": []}
    for path in sorted(Path(folder).glob("*.idx")):
        stored = IndexedDataset(str(path.with_suffix("")))
        found["documents"] += [stored[number].tolist() for number in range(len(stored))]
        packed = GPTDataset(
            stored, str(path), np.arange(len(stored), dtype=np.int32), None, Split.train, config
        )
        found["order"].append(packed.document_index.tolist())
        samples = [packed[row] for row in np.argsort(packed.shuffle_index)]
        found["rows"].append([[*sample["tokens"].tolist(), int(sample["labels"][-1])] for sample in samples])
    return found


def read_litdata(folder, dtype, length):
    from litdata import StreamingDataset, TokensLoader

    dataset = StreamingDataset(folder, item_loader=TokensLoader(block_size=length), shuffle=False)
    assert dataset[0].dtype == dtype
    at_random = [dataset[row].tolist() for row in range(len(dataset))]
    assert [row.tolist() for row in dataset] == at_random
    return {"rows": at_random}


def read_mds(folder, _, __):
    class Unused:
        pass

    for name, names in {
        "torchvision": [],
        "torchvision.datasets": ["VisionDataset"],
        "torchvision.transforms": [],
        "torchvision.transforms.functional": ["to_tensor"],
        "transformers": [],
        "transformers.feature_extraction_utils": ["BatchFeature"],
        "transformers.models": [],
        "transformers.models.auto": [],
        "transformers.models.auto.tokenization_auto": ["AutoTokenizer"],
        "transformers.tokenization_utils_base": ["BatchEncoding"],
    }.items():
        module = types.ModuleType(name)
        module.__path__ = []
        module.__dict__.update(dict.fromkeys(names, Unused))
        sys.modules[name] = module
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    clean_stale_shared_memory()  # of a run that was killed
    dataset = StreamingDataset(local=folder, batch_size=1, shuffle=False, validate_hash="sha1")
    return {
        "samples": [
            {key: value if isinstance(value, str) else value.tolist() for key, value in sample.items()}
            for sample in dataset
        ]
    }


if __name__ == "__main__":
    kind, folder, dtype, length = sys.argv[1:]
    found = globals()[f"read_{kind}"](folder, dtype, int(length))
    Path(folder, "read.json").write_text(json.dumps(found))
