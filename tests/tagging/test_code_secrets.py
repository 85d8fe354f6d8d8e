"""Secrets are those of detect-secrets, whichever detectors are left out; time is bounded, nothing is said."""

import importlib.metadata
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.code_libraries import import_quietly, version_of
from mixle_assets.tagging.code_secrets import _GATES, FILE_NAME, SECRET_TYPES
from mixle_assets.tagging.registry import fingerprint_of, resolve_tagger
from mixle_assets.tagging.views import view_of_text

USE = TaggerUse(tagger="code_secrets_v1", parameters={})
HEX = "0f3a9c5e7b1d2846"

FRAGMENTS = [
    *"'\"`:=!@.,;()[]{}<>/ -_\n\r\t\x0c\u2028#$",
    *("  ", " = ", ": ", " := ", " == ", " => ", "://", "//", "/:_authToken=npm_", "; ", "');"),
    *(
        "api_key",
        "apikey",
        "KEY",
        "pass",
        "password",
        "PASSWD",
        "pwd",
        "pw",
        "token",
        "secret",
        "contrase\u00f1a",
    ),
    *(
        "\u017fecret",
        "to\u212aen",
        "db_pass",
        "private_key",
        "_id",
        "userid",
        "id ",
        "aws",
        "AW\u017f_",
        "ibm_cloud",
    ),
    *("cl", "cloudant", "cloudant_", "sl_", "softlayer", "api", "cos_", "hmac_", "access_", "http", "https"),
    *(
        "user",
        "x",
        "hunter2",
        "get_key(",
        "foo[",
        "\u00e9",
        "\u4e2d",
        "0",
        "ab",
        "Zz",
        "AP",
        "AKC",
        "AC",
        "SK",
        "SG.",
        "-us1",
    ),
    *(
        "AKIAIOSFODNN7EXAMPLE",
        "AccountKey=",
        "xoxb-1-2-",
        "sq0csp-",
        "sk_live_",
        "ghp_",
        "eyJhbGciOiJIUzI1NiJ9",
    ),
    *("BEGIN RSA PRIVATE KEY", "PuTTY-User-Key-File-2", ".cloudant.com", "hooks.slack.com/services/T1/B2/c"),
    *("# pragma: allowlist secret", "// pragma: allowlist nextline secret", "api.softlayer.com/soap/v3/"),
    *(
        HEX,
        HEX * 2,
        HEX * 3,
        HEX * 4,
        "a" * 24,
        "q7Zr+/kP2mXw9LdV5tBcY",
        "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12",
    ),
    *(
        "M" + "a" * 23,
        ".abcdef.",
        "b" * 27,
        "A" * 44,
        "9" * 22,
        "c" * 43,
        "0123456789",
        "1b2c3d4e-aaaa-bbbb-cccc-1234567890ab",
    ),
]


def measure(text):
    return resolve_tagger(USE).measure(view_of_text(text))


def found_by_the_library(text):
    """Return what a scan of the library's own finds: line, kind and value of each secret, in its order."""
    settings_of = import_quietly("detect_secrets.settings")
    scan = import_quietly("detect_secrets.core.scan")
    secrets = import_quietly("detect_secrets.core.secrets_collection").SecretsCollection()
    lines = text.splitlines()
    with settings_of.default_settings():
        for secret in scan._process_line_based_plugins(list(enumerate(lines, start=1)), FILE_NAME):
            secrets[FILE_NAME].add(secret)
    return [(secret.line_number - 1, secret.type, secret.secret_value) for _, secret in secrets]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
@example(f'"{HEX}" # pragma: allowlist secret\n"{HEX}"')
@example(f'# pragma: allowlist nextline secret\n"{HEX}"')
@example(f'user_id="{HEX}"')
@example("\u017fecret: hunter2")
@example("password = 'hunter2'\npassword = 'hunter2'")
@settings(deadline=None, max_examples=400)
def test_no_secret_of_the_library_is_missed_and_none_is_added(text):
    expected = found_by_the_library(text)
    library = resolve_tagger(USE).measure._library

    assert [(one.line, one.kind, one.value) for one in library.find(text)] == expected
    measured = measure(text)
    num_words = len(text.split())
    assert measured["doc"] == (len(expected) / num_words if num_words else -1.0)
    for kind in SECRET_TYPES:
        spans = measured.get(f"SECRET_{kind.replace(' ', '_')}", [])
        assert [text[start:end] for start, end, _ in spans] == [
            value for _, of, value in expected if of == kind
        ]


def test_every_detector_of_the_library_has_its_gate_and_every_kind_its_measure():
    plugins = import_quietly("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class()

    assert {one.__name__ for one in plugins.values()} == set(_GATES)
    assert tuple(sorted(plugins)) == SECRET_TYPES


def test_a_span_lies_where_the_text_of_its_line_is_first_as_in_dolma():
    # The second line is part of the first, in which a comment allows it.
    line = f'"{HEX}"'
    text = f"x {line} # pragma: allowlist secret\n{line}\n"

    assert measure(text) == {"SECRET_Hex_High_Entropy_String": [[3, 19, 1.0]], "doc": 1 / 7}


def test_after_a_thousand_secrets_spans_lie_where_the_secrets_are():
    filler = "".join(f'"{number:04x}9c5e7b1d2f38"\n' for number in range(0x1000, 0x1000 + 1000))
    line = f'"{HEX}{HEX}"'
    text = f"{line} # pragma: allowlist secret\n{filler}{line}\n"

    assert measure(text)["SECRET_Hex_High_Entropy_String"][-1] == [len(text) - 34, len(text) - 2, 1.0]


LONG = {
    "one letter": "a" * 1_000_000,
    "a keyword without end": "secret" * 160_000,
    "keywords before backticks": "secret`" * 140_000,
    "a keyword and spaces": "key" + " " * 1_000_000 + "x" + "a" * 44,
    "slashes": "/" * 999_980 + "/:_authToken=npm",
    "beginnings of tokens": "eyJ" * 330_000,
    "backticks": "`" * 1_000_000,
    "numbers in quotes": "".join(f'"{number:09x}abcdef" ' for number in range(0, 50_000 * 7919, 7919)),
    "spaces before pragma": f'"{HEX}" <!--{" " * 1_000_000}pragma: allowlist secret',
}


@pytest.mark.parametrize("name", LONG)
def test_a_million_characters_on_one_line_take_seconds(name):
    started = time.process_time()

    measure(LONG[name])

    assert time.process_time() - started < 30


def test_a_line_that_would_take_too_long_is_passed_over_by_that_detector_alone():
    line = "secret" * 160_000 + ": hunter2 AKIAIOSFODNN7EXAMPLE"

    assert set(measure(line)) == {"SECRET_AWS_Access_Key", "doc"}
    assert set(measure(f"{line}\npassword: hunter2")) == {
        "SECRET_AWS_Access_Key",
        "SECRET_Secret_Keyword",
        "doc",
    }


def test_any_number_of_threads_may_scan():
    texts = [f'password: hunter{number}\nkey = "{HEX[number:]}{HEX[:number]}"\n' for number in range(16)] * 8

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(measure, texts)) == [measure(text) for text in texts]


def test_values_do_not_depend_on_the_hash_seed_and_nothing_is_said(tmp_path):
    program = (
        "from mixle_assets.recipe import TaggerUse\n"
        "from mixle_assets.tagging.registry import resolve_tagger\n"
        "from mixle_assets.tagging.views import view_of_text\n"
        "use = TaggerUse(tagger='code_secrets_v1', parameters={})\n"
        "text = 'password = secret = pwd: \"hunter2\" AKIAIOSFODNN7EXAMPLE https://u:pa55@h'\n"
        "print(list(resolve_tagger(use).measure(view_of_text(text)).items()))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        for seed in ("0", "1")
    ]

    assert runs[0].stdout == runs[1].stdout
    assert b"SECRET_Basic_Auth_Credentials" in runs[0].stdout
    assert [run.stderr for run in runs] == [b"", b""]
    assert list(tmp_path.iterdir()) == []


def test_importing_the_library_leaves_warnings_where_they_were_shown():
    program = (
        "import warnings\n"
        "from mixle_assets.tagging.code_libraries import import_quietly\n"
        "shown_by = warnings.showwarning\n"
        "import_quietly('detect_secrets.plugins')\n"
        "assert warnings.showwarning is shown_by\n"
        "warnings.warn('still shown')\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert b"UserWarning: still shown" in done.stderr


def test_without_the_extra_a_recipe_is_refused_with_its_name(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "x"}\n', encoding="utf-8")
    (tmp_path / "r.yaml").write_text(
        "streams:\n- name: s\n  documents: [a.jsonl]\n  taggers: {code: [code_secrets_v1]}\n",
        encoding="utf-8",
    )
    program = (
        "import sys\n"
        "sys.modules['detect_secrets'] = None  # as if it were not installed\n"
        "from mixle_assets.__main__ import main\n"
        "main()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "lint", "r.yaml"], cwd=tmp_path, capture_output=True, text=True
    )

    assert done.returncode == 2, done.stderr
    assert "code_secrets_v1 needs detect-secrets: pip install 'mixle_assets[code]'" in done.stderr


def test_another_version_of_the_library_is_refused_and_would_tag_anew(monkeypatch):
    fingerprint = fingerprint_of(USE)
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "1.5.0")
    version_of.cache_clear()

    assert fingerprint_of(USE) != fingerprint
    with pytest.raises(RecipeError, match=r"values of detect-secrets 1\.4\.0, but 1\.5\.0 is installed"):
        resolve_tagger(USE)
    monkeypatch.undo()
    version_of.cache_clear()
    assert fingerprint_of(USE) == fingerprint
