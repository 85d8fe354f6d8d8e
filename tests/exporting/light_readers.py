"""Opens an export with the readers' own parsing code, and prints what they read as JSON.

    python light_readers.py FOLDER_OF_READERS megatron|mds PATH

The packages want torch and much else before they let one import them. Only their parsing modules are needed
here, so their parents are empty stand-ins and torch is a stub; the code that reads files is theirs.
"""

import json
import sys
import types
from pathlib import Path


def stand_in(name, **names):
    module = types.ModuleType(name)
    module.__path__ = []
    for key, value in names.items():
        setattr(module, key, value)
    sys.modules[name] = module
    return module


def open_parents(folder, *names):
    for name in names:
        stand_in(name).__path__ = [str(folder / Path(*name.split(".")))]


def read_megatron(folder, prefix):
    class Dataset:
        pass

    data = stand_in("torch.utils.data", Dataset=Dataset)
    utils = stand_in("torch.utils", data=data)
    stand_in("torch", utils=utils, Tensor=object)
    open_parents(folder, "megatron", "megatron.core", "megatron.core.datasets")
    stand_in("megatron.core.utils", log_single_rank=lambda *_, **__: None)
    stand_in(
        "megatron.core.msc_utils", MultiStorageClientFeature=types.SimpleNamespace(is_enabled=lambda: False)
    )
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    dataset = IndexedDataset(prefix)
    return [dataset[number].tolist() for number in range(len(dataset))]


def read_mds(folder, path):
    open_parents(
        folder, "streaming", "streaming.base", "streaming.base.format", "streaming.base.format.mds",
        "streaming.base.format.base",
    )  # fmt: skip
    stand_in("streaming.base.util", bytes_to_int=int)
    stand_in(
        "PIL", Image=types.SimpleNamespace(Image=object)
    )  # for columns of images, of which we write none
    stand_in("PIL.JpegImagePlugin", JpegImageFile=object)
    from streaming.base.format.mds.reader import MDSReader
    from streaming.base.hashing import get_hash

    samples = []
    for entry in json.loads(Path(path, "index.json").read_text())["shards"]:
        raw = entry["raw_data"]
        content = Path(path, raw["basename"]).read_bytes()
        assert get_hash("sha1", content) == raw["hashes"]["sha1"]
        assert len(content) == raw["bytes"]
        reader = MDSReader.from_json(path, None, entry)
        for number in range(reader.samples):
            sample = reader.get_item(number)
            samples.append(
                {key: value if isinstance(value, str) else value.tolist() for key, value in sample.items()}
            )
    return samples


if __name__ == "__main__":
    readers, kind, path = sys.argv[1:]
    read = {"megatron": read_megatron, "mds": read_mds}[kind]
    print(json.dumps(read(Path(readers), path)))
