"""The launcher keeps prompts, forgets what was shown, and tells what set-up has to say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from launcher_stand import HOOK_SHELLS, SESSION, Stand, line, payload_of


@pytest.fixture(params=HOOK_SHELLS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Stand:
    """Return a stand-in plugin under each shell."""
    return Stand(tmp_path, list(HOOK_SHELLS[request.param]))


def test_prompts_are_kept_privately_one_a_line(stand: Stand) -> None:
    """Exactly as they came, whatever is in them."""
    first = line(payload_of("UserPromptSubmit", prompt='say "hi"\nЁ \\ %s $(x) `y`', prompt_id="1"))
    second = line(payload_of("UserPromptSubmit", prompt="x" * 50_000))
    assert stand.run("prompt", first) == ""
    assert stand.run("prompt", second) == ""
    kept = stand.home / "state" / SESSION / "prompts"
    assert kept.read_bytes() == first + second
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_prompts_are_bounded(stand: Stand) -> None:
    """One of 64 kB or more is left to the transcript, and a file past 1 MB starts anew."""
    kept = stand.home / "state" / SESSION / "prompts"
    stand.run("prompt", line(payload_of("UserPromptSubmit", prompt="x" * 66_000)))
    assert not kept.exists()
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x" * 1_000_001)
    last = line(payload_of("UserPromptSubmit", prompt="last"))
    stand.run("prompt", last)
    assert kept.read_bytes() == last


def test_parallel_prompts_do_not_mix(stand: Stand) -> None:
    """Each is one write."""
    payloads = [line(payload_of("UserPromptSubmit", prompt=f"{n} " * 300)) for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda payload: stand.run("prompt", payload), payloads))
    kept = (stand.home / "state" / SESSION / "prompts").read_bytes()
    assert sorted(kept.splitlines(keepends=True)) == sorted(payloads)


def test_what_set_up_has_to_say_is_told_with_the_next_prompt_once(stand: Stand) -> None:
    """The notice is printed and taken away; one that is damaged is only taken away."""
    notice = stand.home / "notice"
    notice.write_text('{"systemMessage":"slicegrep is ready"}\n')
    prompt = line(payload_of("UserPromptSubmit", prompt="x"))
    assert [stand.run("prompt", prompt) for _ in range(2)] == ['{"systemMessage":"slicegrep is ready"}\n', ""]
    notice.write_text('{"systemMess')
    assert stand.run("prompt", prompt) == ""
    assert not notice.exists()


def test_clear_and_compaction_drop_what_was_shown(stand: Stand) -> None:
    """Of this session only; prompts and reads stay, for the focus and the ledger."""
    for session in (SESSION, "other"):
        for name in ("seen", "plans"):
            (stand.home / "state" / session / name).mkdir(parents=True)
            (stand.home / "state" / session / name / "x").write_text("x")
        (stand.home / "state" / session / "prompts").write_text("x")
    stand.run("session-start", line(payload_of("SessionStart", source="compact")))
    left = {str(path) for path in stand.kept() if path.startswith("state") and path.count("/") == 2}
    assert left == {
        f"state/{SESSION}/prompts",
        "state/other/prompts",
        "state/other/seen",
        "state/other/plans",
    }
