"""362 calls of mixle 0.8.2's streaming_corpus module, and what came back, replayed on ours.

The golden file says how values are written; it holds observations, no code of that module.
"""

import decimal
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from mixle_assets.packing.order import global_document_order, shard_documents_for_rank
from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.streaming import StreamingCorpus

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "streaming_corpus_golden.json").read_text())

REFUSED_HERE = {
    "order/quirk/n_2_63": "mixle takes 2**63 documents for an empty corpus",
    "pack/doc_float_2pow63": "mixle turns the float 2**63 into the smallest int64",
    "pack/quirk/pad_2_63_needed": "mixle fails late, with an OverflowError",
    "pack/quirk/pad_2_63_unneeded": "mixle does not notice",
    "pack/quirk/boundary_2_63": "mixle fails late, with an OverflowError",
}


def _raise_key(order, seed, epoch):
    raise KeyError("selector")


def _reverse_in_place(order, seed, epoch):
    order[:] = order[::-1].copy()
    return order


SELECTORS = {
    "identity": lambda o, s, e: o,
    "reverse": lambda o, s, e: o[::-1],
    "list_reversed": lambda o, s, e: [int(x) for x in o][::-1],
    "keep_even": lambda o, s, e: o[o % 2 == 0],
    "first_half": lambda o, s, e: o[: len(o) // 2],
    "sort": lambda o, s, e: np.sort(o),
    "duplicate": lambda o, s, e: np.concatenate([o, o]),
    "rotate_by_epoch": lambda o, s, e: np.roll(np.sort(o), -(e % max(1, len(o)))),
    "add_seed_mod": lambda o, s, e: (np.sort(o) + s) % len(o),
    "empty_list": lambda o, s, e: [],
    "none": lambda o, s, e: None,
    "as_float": lambda o, s, e: o.astype(float),
    "out_of_range": lambda o, s, e: o + 1000,
    "negative": lambda o, s, e: -(o + 1),
    "two_d": lambda o, s, e: o.reshape(-1, 1),
    "raises_key": _raise_key,
    "inplace_reverse": _reverse_in_place,
    "not_callable": 3,
}


def decode(value):
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    match next(iter(value)):
        case "$np":
            return np.dtype(value["$np"].rstrip("_") if value["$np"] == "bool_" else value["$np"]).type(
                decode(value["v"])
            )
        case "$nd":
            array = np.array(decode(value["v"]), dtype=value["$nd"])
            return array.reshape(value["shape"]) if "shape" in value else array
        case "$nd0":
            return np.array(decode(value["v"]), dtype=value["$nd0"])
        case "$f":
            text = value["$f"]
            return float.fromhex(text) if "x" in text else float(text)
        case "$int":
            return int(value["$int"])
        case "$range":
            return range(*value["$range"]) if isinstance(value["$range"], list) else range(value["$range"])
        case "$gen":
            return iter(decode(value["$gen"]))
        case "$tuple":
            return tuple(decode(value["$tuple"]))
        case "$dict":
            return {key: decode(item) for key, item in value["$dict"]}
        case "$decimal":
            return decimal.Decimal(value["$decimal"])
        case "$bytearray":
            return bytearray(value["$bytearray"], "ascii")
        case "$bytes":
            return value["$bytes"].encode("ascii")
        case "$complex":
            return complex(*value["$complex"])
        case "$sel":
            return SELECTORS[value["$sel"]]
        case "$synthetic":
            facts = value["$synthetic"]
            state = np.random.RandomState(facts["seed"])
            return [
                state.randint(1, 5000, size=state.randint(facts["min_len"], facts["max_len"] + 1))
                for _ in range(facts["n_docs"])
            ]
        case "$ramp":
            facts = value["$ramp"]
            return [np.arange(i * facts["step"], i * facts["step"] + facts["len"]) for i in range(facts["n"])]
    raise AssertionError(f"unknown value {value}")


def plain(array):
    """dtype, shape and values, to be compared in one go."""
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": array.tolist()}


def expected(value):
    if isinstance(value, dict) and value.keys() == {"dtype", "shape", "data"}:
        return {**value, "data": decode(value["data"])}
    if isinstance(value, list):
        return [expected(item) for item in value]
    if isinstance(value, dict):
        return {name: expected(item) for name, item in value.items()}
    return value


def sha256(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype("u1" if array.dtype == bool else "<i8").tobytes())
    return digest.hexdigest()


def order_facts(order, case):
    if case.get("mode") != "digest":
        return {"order": plain(order)}
    return {
        "len": len(order),
        "head8": order[:8].tolist(),
        "sha256_le_i64": sha256(order),
        "dtype": str(order.dtype),
    }


def packed_facts(packed, case):
    counts = {
        "real_tokens": packed.real_tokens,
        "total_tokens": packed.total_tokens,
        "packing_efficiency": packed.packing_efficiency,
    }
    if case.get("mode") != "digest":
        return {
            "rows": plain(packed.rows),
            "loss_mask": plain(packed.loss_mask),
            "len": len(packed),
            **counts,
        }
    return {
        "n_rows": len(packed),
        "rows_shape": list(packed.rows.shape),
        "rows_sha256_le_i64": sha256(packed.rows),
        "mask_false": int((~packed.loss_mask).sum()),
        "mask_last": packed.loss_mask[-1].tolist(),
        **counts,
    }


def batch_facts(corpus, epoch, case):
    generator = corpus.epoch_batches(epoch)
    after_call = corpus.last_packing_efficiency
    batches, after_first = [], None
    for batch in generator:
        if not batches:
            after_first = corpus.last_packing_efficiency
        batches.append(batch)
    facts = {
        "eff_after_call": after_call,
        "eff_after_first_next": after_first,
        "eff_after_exhaustion": corpus.last_packing_efficiency,
        "n_batches": len(batches),
    }
    if case.get("mode") != "digest":
        names = ("context", "targets", "loss_mask")
        return facts | {"batches": [dict(zip(names, map(plain, batch), strict=True)) for batch in batches]}
    return facts | {
        "batch_shapes": [list(context.shape) for context, _, _ in batches],
        "sha256_ctx_tgt_mask": sha256(*(array for batch in batches for array in batch)),
    }


def call(case):
    args = decode(case["args"])
    kwargs = {name: decode(value) for name, value in case["kwargs"].items()}
    match case["api"]:
        case "global_document_order":
            return order_facts(global_document_order(*args, **kwargs), case)
        case "shard_documents_for_rank":
            shard = shard_documents_for_rank(*args, **kwargs)
            if case.get("mode") == "digest":
                return order_facts(shard, case)
            return {"shard": plain(shard)}
        case "pack_documents":
            return packed_facts(pack_documents(*args, **kwargs), case)
        case "StreamingCorpus":
            corpus = StreamingCorpus(*args, **kwargs)
            names = case["expect"]["attributes"] if "expect" in case else ()
            return {"attributes": {name: getattr(corpus, name) for name in names}}
        case "rank_document_indices":
            epoch = kwargs.pop("epoch")
            return {"indices": plain(StreamingCorpus(*args, **kwargs).rank_document_indices(epoch))}
        case "epoch_batches":
            epoch = kwargs.pop("epoch")
            return batch_facts(StreamingCorpus(*args, **kwargs), epoch, case)
    raise AssertionError(case["api"])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_a_call_gives_what_mixle_gave(case):
    if case["id"] in REFUSED_HERE:
        with pytest.raises(ValueError):
            call(case)
    elif "error" in case:
        with pytest.raises(Exception) as caught:
            call(case)
        assert type(caught.value).__name__ == case["error"]
        assert not case["error_names"] or str(caught.value).startswith(tuple(case["error_names"]))
    else:
        assert call(case) == expected(case["expect"])


@pytest.mark.parametrize("row", GOLDEN["epoch_seed"], ids=lambda row: f"{row['seed']}-{row['epoch']}")
def test_seed_and_epoch_make_the_state_that_mixle_had(row):
    order = global_document_order(100, seed=int(row["seed"]), epoch=int(row["epoch"]))

    assert order.tolist() == np.random.RandomState(row["epoch_seed"]).permutation(100).tolist()


def test_only_what_mixle_gets_wrong_is_refused():
    quirks = {case["id"] for case in GOLDEN["cases"] if "quirk" in case}

    assert len(GOLDEN["cases"]) == 362
    assert REFUSED_HERE.keys() <= quirks
