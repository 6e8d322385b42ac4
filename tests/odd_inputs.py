"""Strategies for what people's machines hold: source files in odd bytes, and transcripts as the client writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

__all__ = ["Told", "lines_of_code", "source_bytes", "transcripts"]

ODD_LINES = (
    "",
    " ",
    "\t",
    "\tif x:  \t",
    "def alpha(x):  # naïve",
    "    return beta(x)  ",
    "class Gamma { // 数据",
    "}",
    "x = '\u2028 \x85 \x0b \x0c'",
    "y = '\ufeff'",
    "\r",
    "a = 1\rb = 2",
    "1\tlooks numbered",
    "<<< 1-2",
    "// 🚀 " + "═" * 40,
    "z = '" + "x" * 3000 + "'",
)
ODD_BYTES = (b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf0\x9f", b"caf\xe9", b"\0", b"\x1b[0m")


def lines_of_code() -> st.SearchStrategy[list[str]]:
    """Return a strategy for lines without LF, some of them odd."""
    plain = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40)
    return st.lists(st.sampled_from(ODD_LINES) | plain, max_size=30)


@st.composite
def source_bytes(draw: st.DrawFn) -> bytes:
    """Return a strategy for the bytes of a file: any line ends (mixed too), BOMs, encodings, bad bytes, no last LF."""
    lines = draw(lines_of_code())
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16-le", "utf-16-be"]))
    ends = draw(st.sampled_from([("\n",), ("\r\n",), ("\n", "\r\n"), ("\r\r\n", "\n")]))
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    if text and draw(st.booleans()):
        text = text[:-1]
    if encoding.startswith("utf-16"):
        return ("\ufeff" + text).encode(encoding)
    data = text.encode(encoding, "replace")
    for piece in draw(st.lists(st.sampled_from(ODD_BYTES), max_size=2)):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + piece + data[at:]
    return data


@dataclass(frozen=True)
class Told:
    """A transcript, and what it tells: the prompts, the commands and the outputs, oldest first."""

    data: bytes
    prompts: tuple[str, ...]
    commands: tuple[str, ...]
    outputs: tuple[str, ...]


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="<[\ufeff"), min_size=1, max_size=30)  # fmt: skip
SILENT = ("Read", "Edit", "Write")


@st.composite
def transcripts(draw: st.DrawFn) -> Told:
    """Return a strategy for transcripts of up to 30 events, with the client's own rows between, whole or half written."""
    spaced = draw(st.booleans())
    rows: list[bytes] = []
    prompts, commands, outputs = [], [], []

    def add(row: dict[str, object]) -> None:
        rows.append(json.dumps(row, separators=None if spaced else (",", ":"), ensure_ascii=spaced).encode())

    def user(content: object, **more: object) -> None:
        add(
            {
                "parentUuid": "p",
                "isSidechain": False,
                **more,
                "type": "user",
                "message": {"role": "user", "content": content},
            }
        )

    for number, event in enumerate(
        draw(st.lists(st.sampled_from(["prompt", "call", "silent", "noise", "damage"]), max_size=30))
    ):
        words = f"{draw(WORDS)} {number}"
        call = f"toolu_{number}"
        if event == "prompt":
            user(words if draw(st.booleans()) else [{"type": "text", "text": words}])
            prompts.append(words)
        elif event in ("call", "silent"):
            name, given = (
                ("Bash", {"command": words})
                if event == "call"
                else (draw(st.sampled_from(SILENT)), {"file_path": words})
            )
            use = {"type": "tool_use", "id": call, "name": name, "input": given}
            message = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [use]}
            add({"parentUuid": "p", "isSidechain": False, "message": message, "type": "assistant"})
            user(
                [{"tool_use_id": call, "type": "tool_result", "content": f"out {words}"}],
                toolUseResult={"stdout": words},
            )
            if event == "call":
                commands.append(words)
                outputs.append(f"out {words}")
        elif event == "noise":
            add(
                {
                    "parentUuid": "p",
                    "isSidechain": False,
                    "attachment": {"type": "date", "text": words},
                    "type": "attachment",
                }
            )
            add({"type": "api-request-blob", "message": {"role": "user", "content": words}})
            user(words, isMeta=True)
            user(words, isSidechain=True)
        else:
            rows.append(
                draw(
                    st.sampled_from(
                        [b"", b"{", b"\0\0", b"[1]", b'{"type":"user"}', b'\xff{"type":"user","message":3}']
                    )
                )
            )
    data = b"".join(row + b"\n" for row in rows)
    if draw(st.booleans()):
        data += b'{"parentUuid":"p","isSidechain":false,"type":"user","message":{"role":"user","content":"half a ro'
    return Told(data, tuple(prompts), tuple(commands), tuple(outputs))
