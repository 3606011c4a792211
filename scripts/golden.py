"""Compares what an old and a new build of the program compute on this machine: see golden.sh.

Each command of golden_cases.py runs with both programs in fresh folders. Exit codes, numbers that are printed, and the
decoded content of every file must agree: pixels, fields, tables and metadata, not the packed bytes. Words that differ
are listed. A number that also differs between two runs of the old program, by as much, is listed as its noise.
"""
import argparse
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import golden_cases
import golden_check
from golden_files import compare, decode_file, decode_output

ROOT = Path(__file__).resolve().parent.parent
NOISY_RUNS = 3


class Runner:
    def __init__(self, work, renamed):
        self.work = work
        self.renamed = renamed
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2",
                            "POCL_CACHE_DIR": str(work.parent / "pocl")}
        Path(self.environment["POCL_CACHE_DIR"]).mkdir(exist_ok=True)
        for name in ("OCL_ICD_VENDORS", "LD_LIBRARY_PATH", "TMPDIR"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def words(self, command, new):
        words = shlex.split(command)
        return [self.renamed.get(word, word) for word in words] if new else words

    def run(self, program, command, folder, new=False):
        try:
            done = subprocess.run([program, *self.words(command, new)], cwd=folder, env=self.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
            return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            return "no end after 300 s", "", ""

    def results(self, program, commands, folder, new=False):
        """Runs commands in a new folder. Returns exit codes, {name: Decoded} of what is printed and written, errors."""
        folder.mkdir(parents=True)
        (folder / "in").symlink_to(self.work / "in")
        results = {}
        codes = []
        said = ""
        for i, command in enumerate(commands):
            code, output, errors = self.run(program, command, folder, new)
            codes.append(code)
            said += errors
            strict = code == 0 and "--help" not in command
            results[f"command {i + 1}, output"] = decode_output(output, strict)
            results[f"command {i + 1}, errors"] = decode_output(errors, strict)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and folder / "in" not in path.parents:
                results[str(path.relative_to(folder))] = decode_file(path)
        shutil.rmtree(folder)
        return codes, results, said


def differences(old, new):
    """Failures {(where, name): (text, distance)}, and words."""
    failures, words = {}, []
    if old[0] != new[0]:  # what is printed and written differs too: one line is enough
        message = next(iter(new[2].splitlines()), "")
        return {("exit code", ""): (f"{old[0]} -> {new[0]}, {message}", None)}, []
    for name in old[1].keys() | new[1].keys():
        if name not in new[1]:
            failures[name, ""] = ("is not written", None)
        elif name not in old[1]:
            failures[name, ""] = ("is written too", None)
        else:
            failed, other = compare(old[1][name], new[1][name])
            if "unreadable" in old[1][name].words:
                failed["unreadable"] = (f"cannot be decoded: {old[1][name].words['unreadable']}", None)
            failures |= {(name, key): value for key, value in failed.items()}
            words += [f"{name}: {line}" for line in other]
    return failures, words


def is_noise(distance, repeated):
    """True if runs of one program differ as much."""
    own = [item[1] for item in repeated if item is not None and item[1] is not None]
    return distance is not None and bool(own) and all(
        distance[i] <= 2 * max(item[i] for item in own) for i in (0, 1))


def compare_case(runner, old_program, new_program, case):
    name, commands = case
    commands = [commands] if isinstance(commands, str) else commands
    old = runner.results(old_program, commands, runner.work / "old" / name)
    failures, words = differences(old, runner.results(new_program, commands, runner.work / "new" / name, new=True))
    noise = []
    if failures and all(distance for text, distance in failures.values()):
        again = [differences(old, runner.results(old_program, commands, runner.work / f"again{i}" / name))[0]
                 for i in range(NOISY_RUNS)]
        noise = [key for key, (text, distance) in failures.items()
                 if is_noise(distance, [run.get(key) for run in again])]
    # A case that no longer does what it is for compares little.
    expected = [0] * (len(commands) - 1) + [2 if name.startswith("refused-") else 0]
    unexpected = [f"the old program ends with {old[0]}, not {expected}"] if old[0] != expected else []
    return {"name": name, "words": words, "codes": old[0], "case": unexpected,
            "noise": [f"{key[0]}: {failures[key][0]}" for key in noise],
            "failures": [f"{key[0]}: {text}" for key, (text, distance) in failures.items() if key not in noise]}


def build(revision):
    """Builds the program of a revision in build/golden. Returns its path."""
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.run([*git, "rev-parse", "--verify", revision + "^{commit}"], check=True, capture_output=True,
                            text=True).stdout.strip()
    tree = ROOT / "build" / "golden" / commit[:12]
    if not tree.exists():
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--detach", str(tree), commit], check=True)
    parts = ["-DHOLOTONE_TESTS=OFF", "-DHOLOTONE_BENCH=OFF", "-DHOLOTONE_EXAMPLES=OFF"]
    subprocess.run(["cmake", "--preset", "cpu", *parts], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "cpu", "-t", "holotone_cli"], cwd=tree, check=True)
    return tree / "build" / "cpu" / "cli" / "holotone"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="golden.sh", description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM",
                        help="old and new, where --old and --new name no revision (default new: build/cpu)")
    parser.add_argument("--old", metavar="REVISION", help="git revision that is built in build/golden")
    parser.add_argument("--new", metavar="REVISION", help="git revision of the new program")
    parser.add_argument("--only", metavar="TEXT", action="append",
                        help="only cases whose name contains TEXT; may be repeated")
    parser.add_argument("--words", action="store_true", help="fail if words differ too")
    parser.add_argument("--rename", metavar="OLD=NEW", action="append", default=[],
                        help="option or word that the new program names otherwise: --rename=--most-sum=--max-sum")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--check", metavar="PROGRAM", help="only check that doctored results of PROGRAM are found")
    arguments = parser.parse_args()
    if arguments.list or arguments.check:
        return arguments
    needed = (arguments.old is None) + (arguments.new is None)
    if needed == 1 and arguments.old and not arguments.programs:
        arguments.programs = [str(ROOT / "build" / "cpu" / "cli" / "holotone")]
    if len(arguments.programs) != needed:
        parser.error(f"expected {needed} programs, got {len(arguments.programs)}")
    return arguments


def programs_of(arguments):
    rest = list(arguments.programs)
    revisions = (arguments.old, arguments.new)
    pair = [build(revision) if revision else Path(rest.pop(0)).absolute() for revision in revisions]
    for program in pair:
        if not os.access(program, os.X_OK):
            sys.exit(f"golden.sh: {program}: expected a program, got none")
    return pair


def prepare(runner, old_program):
    (runner.work / "in").mkdir(parents=True)
    golden_cases.write_inputs(runner.work / "in")
    for command in golden_cases.PREPARED:
        code, _, errors = runner.run(old_program, command, runner.work)
        if code != 0:
            sys.exit(f"golden.sh: {command}: expected exit code 0 of the old program, got {code}: {errors}")


def report(results, seconds):
    for kind in ("case", "words", "noise", "failures"):
        for result in results:
            for line in result[kind]:
                print(f"{kind:8} {result['name']}: {line}")
    count = {kind: sum(bool(result[kind]) for result in results) for kind in ("words", "noise", "failures")}
    codes = [code for result in results for code in result["codes"]]
    refused = sum(code == 2 for code in codes)
    print(f"{len(results)} cases, {len(codes)} commands ({refused} refused), {seconds:.0f} s: {count['failures']} "
          f"differ in numbers, {count['noise']} by the noise of the old program, {count['words']} in words")
    return count


@contextlib.contextmanager
def prepared(old_program, renamed):
    """A runner with the inputs, whose folder is removed at the end."""
    work = ROOT / "build" / "golden" / f"work-{os.getpid()}"
    work.mkdir(parents=True)
    try:
        runner = Runner(work, renamed)
        prepare(runner, old_program)
        yield runner
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    arguments = parse_arguments()
    if arguments.check:
        program = Path(arguments.check).absolute()
        with prepared(program, {}) as runner:
            return golden_check.check(runner, program, compare_case)
    only = arguments.only
    cases = [case for case in golden_cases.CASES if not only or any(text in case[0] for text in only)]
    if arguments.list:
        for name, command in cases:
            print(f"{name}: {command if isinstance(command, str) else '; '.join(command)}")
        return 0
    if not cases:
        sys.exit(f"golden.sh: --only: expected a part of a case's name (--list), got {only}")
    old_program, new_program = programs_of(arguments)
    started = time.monotonic()
    with prepared(old_program, dict(pair.split("=", 1) for pair in arguments.rename)) as runner:
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda case: compare_case(runner, old_program, new_program, case), cases))
    count = report(results, time.monotonic() - started)
    return 1 if count["failures"] or (arguments.words and count["words"]) else 0


if __name__ == "__main__":
    sys.exit(main())
