#!/usr/bin/env python3
"""Times the commands of a page as their users wait for them: each in a new process, next to the time it computes.

    bench/command_times.py build/cuda/cli/holotone --context build/cuda/bench/context_only --json times.json
    bench/command_times.py build/cpu/cli/holotone --device cpu --only 'hologram teapot' --runs 3
    bench/command_times.py build/cuda/cli/holotone --add 'holotone hologram dragon.ply -o dragon.png' --files FOLDER

Runs the page's commands in the printed order in an empty folder, each --runs times. Columns, in seconds:

  first    the first run: libraries and input may not be in memory yet
  command  the median of all runs
  files    reading the bytes of its input files and writing those of its output files
  context  a program that only creates a CUDA context (--context), timed between the commands
  compute  the sum of compute_s, or render_s, that the command reports by --json
  rest     command - files - context - compute

Commands marked <!-- own files --> are left out. Needs nothing but Python.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("first", "command", "files", "context", "compute", "rest")


def read_commands(text):
    """The commands of a page, in its order: indented lines and blocks of sh that begin with holotone or mkdir."""
    commands, own_files, fence = [], False, None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
        if line.startswith("<!--"):
            own_files = "own files" in line
        elif line.strip() and not line.startswith("    ") and fence is None:
            own_files = False
        shown = fence in ("", "sh") if fence is not None else line.startswith("    ")
        words = line.strip().removeprefix("$ ")
        while words.endswith("\\"):
            words = words[:-1] + next(lines, "").strip()
        if shown and not own_files and re.match(r"(holotone|mkdir) ", words):
            commands.append(words)
    return commands


def arguments_of(command):
    """The words of a command, without its comment."""
    return shlex.split(command, comments=True)


def run_seconds(arguments, folder):
    """Seconds of a process from its start to its end, and its standard output. Raises RuntimeError if it fails."""
    start = time.perf_counter()
    done = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(map(str, arguments))}: {done.stderr.decode(errors='replace').strip()}")
    return seconds, done.stdout.decode(errors="replace")


def compute_seconds(report):
    """What a command's JSON says that it computed; None if it says nothing."""
    parts = report.get("holograms") or report.get("pictures") or [report]
    for scope in (parts, [report]):
        for name in ("compute_s", "render_s"):
            found = [part[name] for part in scope if isinstance(part, dict) and name in part]
            if found:
                return sum(found)
    return None


def names_in(folder):
    return {path for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def file_seconds(inputs, outputs, folder):
    """Seconds to read the inputs and to write new files with the outputs' bytes."""
    contents = [path.read_bytes() for path in outputs]
    copies = [pathlib.Path(folder) / f".copy{i}" for i in range(len(contents))]
    start = time.perf_counter()
    for path in inputs:
        path.read_bytes()
    for path, content in zip(copies, contents):
        path.write_bytes(content)
    seconds = time.perf_counter() - start
    for path in copies:
        path.unlink()
    return seconds


def find_inputs(arguments, folder, outputs):
    """Files that the arguments name: words, patterns with counters and colours, and parts such as near.png@18cm."""
    found = set()
    for word in arguments[1:]:
        pattern = re.sub(r"%0?\d*[a-z]", "*", word.split("@")[0])
        try:
            found.update(path for path in pathlib.Path(folder).glob(pattern) if path.is_file())
        except (ValueError, NotImplementedError):  # no pattern, or an absolute path
            pass
    return found - outputs


def time_command(program, command, folder, runs, device, context):
    arguments = [str(program)] + arguments_of(command)[1:]
    takes_device = "--device" in subprocess.run(arguments[:2] + words_of_subcommand(arguments) + ["--help-all"],
                                                stdout=subprocess.PIPE, check=False).stdout.decode()
    if device and takes_device:
        arguments += ["--device", device]
    before = {path: path.stat().st_mtime_ns for path in names_in(folder)}
    times, contexts, reports = [], [], []
    for _ in range(runs):
        if arguments[1] == "scene":  # a new folder each time
            remove(pathlib.Path(folder) / arguments[arguments.index("-o") + 1])
        seconds, text = run_seconds(arguments + ["--json"], folder)
        times.append(seconds)
        reports.append(json.loads(text) if text.strip() else {})
        if context:
            contexts.append(run_seconds([str(context)], folder)[0])
    outputs = {path for path in names_in(folder) if before.get(path) != path.stat().st_mtime_ns}
    row = {"command": command, "runs_s": times, "first": times[0], "command_s": statistics.median(times),
           "files": file_seconds(find_inputs(arguments, folder, outputs), outputs, folder),
           "context": statistics.median(contexts) if contexts else None,
           "compute": None, "device": reports[-1].get("device")}
    computed = [seconds for seconds in map(compute_seconds, reports) if seconds is not None]
    if computed:
        row["compute"] = statistics.median(computed)
    row["rest"] = row["command_s"] - row["files"] - sum(row[name] or 0 for name in ("context", "compute"))
    return row


def words_of_subcommand(arguments):
    return arguments[2:3] if arguments[1] == "smoe" else []


def remove(folder):
    if folder.is_dir():
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


def cell(value):
    return "-" if value is None else f"{value:.3f}"


def table(rows):
    """The rows as a table of Markdown."""
    lines = ["| command | " + " | ".join(COLUMNS) + " |", "| --- |" + " --- |" * len(COLUMNS)]
    for row in rows:
        values = [row["command_s"] if name == "command" else row[name] for name in COLUMNS]
        lines.append(f"| `{' '.join(arguments_of(row['command']))}` | " + " | ".join(map(cell, values)) + " |")
    return "\n".join(lines)


def parsed(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="the holotone program")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "README.md", help="page whose commands are run")
    parser.add_argument("--context", type=pathlib.Path, help="program that only creates a CUDA context")
    parser.add_argument("--device", default="", help="--device of every command that has one")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (default 5)")
    parser.add_argument("--only", default="", help="regular expression: times these, runs the others once")
    parser.add_argument("--skip", default="smoe fit", help="regular expression of commands to run once (default 'smoe fit')")
    parser.add_argument("--add", action="append", default=[], help="a further command, after the page's")
    parser.add_argument("--files", type=pathlib.Path, action="append", default=[], help="folder whose files are linked")
    parser.add_argument("--json", type=pathlib.Path, help="file for the rows")
    return parser.parse_args(words)


def is_timed(command, options):
    if options.only:
        return re.search(options.only, command) is not None
    return not (options.skip and re.search(options.skip, command))


def main(words):
    options = parsed(words)
    if options.runs < 1:
        raise RuntimeError(f"--runs: expected 1 or more, got {options.runs}")
    program = options.program.resolve()
    context = options.context.resolve() if options.context else None
    if context and subprocess.run([str(context)], stdin=subprocess.DEVNULL, check=False).returncode != 0:
        print("no CUDA device: without the column context", file=sys.stderr)
        context = None
    commands = read_commands(options.page.read_text(encoding="utf-8")) + options.add
    last = max((i for i, command in enumerate(commands) if is_timed(command, options)), default=-1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for shared in options.files:
            for path in shared.resolve().iterdir():
                os.symlink(path, pathlib.Path(folder) / path.name)
        for command in commands[:last + 1]:
            if command.startswith("mkdir"):
                run_seconds(arguments_of(command), folder)
                continue
            timed = is_timed(command, options)
            row = time_command(program, command, folder, options.runs if timed else 1, options.device, context)
            if timed:
                rows.append(row)
                print(f"{cell(row['command_s'])} s  {command}", file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        devices = json.loads(run_seconds([str(program), "devices", "--json"], ".")[1])["devices"]
        document = {"program": run_seconds([str(program), "--version"], ".")[1].strip(),
                    "date_utc": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                    "devices": devices, "rows": rows}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"command_times.py: {error}")
