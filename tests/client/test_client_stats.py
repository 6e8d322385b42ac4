"""`slicegrep stats` against what the model's requests really held."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import tiktoken

from driver import Received, World
from samples import made_module
from scripted_api import Tool, flat_text

_ENCODING = tiktoken.get_encoding("o200k_base")
_OURS = re.compile(
    r"<system-reminder>\n(?:(?!</system-reminder>).)*?slicegrep.*?</system-reminder>\n?", re.DOTALL
)
_SUFFIX = re.compile(r" ⟵ [^\n]*")


def tokens(text: str) -> int:
    """Return how many o200k_base tokens a text has, by tiktoken itself."""
    return len(_ENCODING.encode(text, disallowed_special=()))


def shown_after(received: Received, turn: int) -> str:
    """Return what the model got for the call of a turn: its result, and the reminders that are ours."""
    ident = f"toolu_{received.requests[-1].script}_{received.before + turn}_0"
    for message in received.messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if any(block.get("tool_use_id") == ident for block in blocks):
            text = "".join(flat_text([block]) for block in blocks)
            own = received.result(turn=turn).text
            return own + "".join(found[0] for found in _OURS.finditer(text))
    raise AssertionError(f"no result of {ident}")


def test_stats_tell_what_the_requests_held_to_one_percent(world: World, marketplace: Path) -> None:
    """A read that was narrowed, a range, the whole file, a search: before, after, again, names and net."""
    world.write("core.py", made_module(150))
    received = world.play(
        "Why does total_70 grow?",
        [world.read("core.py")],
        [world.read("core.py", offset=200, limit=60)],
        [world.read("core.py")],
        [Tool("Bash", command="grep -n 'return total' core.py")],
        [Tool("Bash", command="grep -c def core.py")],
    )
    whole = tokens(shown_after(received, 2))
    found = shown_after(received, 3)
    spent = {
        "tokens_before": whole,
        "tokens_after": tokens(shown_after(received, 0)),
        "tokens_again": tokens(shown_after(received, 1)) + whole,
        "tokens_annotations": tokens(found) - tokens(_SUFFIX.sub("", _OURS.sub("", found))),
    }
    environment = world.environment({"SLICEGREP_HOOK_DISABLE": "1"})
    words = [str(marketplace / "bin" / "slicegrep"), "stats", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True)
    told = json.loads(done.stdout)["total"]
    off = {name: (told[name], true) for name, true in spent.items() if abs(told[name] - true) > 0.01 * true}
    assert not off
    net = 2 * spent["tokens_before"] - sum(spent.values())
    assert abs(told["net"] - net) <= 0.01 * abs(net)
    assert (told["reads"], told["whole_again"], told["ranges_again"]) == (1, 1, 1)
