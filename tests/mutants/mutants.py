#!/usr/bin/env python3
"""Breaks the commit protocol in believable ways, and checks that the tests notice.

    mutants.py [--jobs N] [NAME...]

Each mutant is a small change of one file.  The tree is copied, the mutant applied, and the runners
built without sanitizers; then crash sweeps, recovery scenarios and drawn scenarios run.  A mutant
under which all of them pass is a hole in the tests, and makes this red.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name: (file, text, what it becomes)
MUTANTS = {
    "the_logged_intent_is_forgotten_at_a_restart": (
        "server/worker/query.c",
        "        query->intent = keep_intent(query, last);\n"
        "        query->previous = keep_intent(query, checkpoint_previous_intent(query->checkpoint));\n"
        "        query->next_batch_id = facts.last_intent;\n"
        "        watermark_restore(&query->watermark, last->eviction_watermark_us);\n",
        "        query->next_batch_id = facts.last_intent;\n"),
    "the_sink_does_not_look_at_the_batch_id": (
        "server/sink/sink_file.c",
        "        else if (batch_id > sink->last_batch)\n            sink->last_batch = batch_id;\n",
        ""),
    "the_state_of_a_failed_attempt_is_kept": (
        "server/worker/query.c",
        "state_snapshot_load(query, query->next_batch_id - 1, err)",
        "state_snapshot_load(query, query->next_batch_id, err)"),
    "the_log_loses_what_the_state_needs": (
        "server/checkpoint/checkpoint.c",
        "    if (oldest > checkpoint->oldest_needed)\n        oldest = checkpoint->oldest_needed;\n",
        ""),
    "a_round_looks_at_too_few_rows": (
        "server/exec/exchange.c",
        "(uint32_t)(((round + 1) * PARTS + rounds - 1) / rounds)",
        "(uint32_t)((round + 1) * PARTS / rounds)"),
    "what_ends_on_the_disk_comes_out_of_the_first_part_only": (
        "server/exec/join_spill.c",
        "self->walking = *more = !self->walk.over;",
        "self->walking = *more = false;"),
    "finishing_a_batch_forgets_the_next_watermark": (
        "server/worker/query.c",
        "watermark_restore(&query->watermark, changes->next_watermark_us);",
        "(void)changes->next_watermark_us;"),
    "the_sink_commits_before_the_sync": (
        "server/worker/micro_batch.c",
        "    TRY_OUT(checkpoint_sync(query->checkpoint, err));\n    TRY_OUT(FAILPOINT(post_sync, err));\n",
        "    TRY_OUT(query->sink->ops->commit(query->sink, batch_id, err));\n"
        "    TRY_OUT(checkpoint_sync(query->checkpoint, err));\n    TRY_OUT(FAILPOINT(post_sync, err));\n"),
    "the_sync_is_left_out": (
        "server/worker/micro_batch.c",
        "    TRY_OUT(checkpoint_sync(query->checkpoint, err));\n",
        ""),
    "a_finished_batch_runs_again": (
        "server/checkpoint/recovery.c",
        "return RECOVERY_FINISH;\n    return RECOVERY_RERUN;",
        "return RECOVERY_START;\n    return RECOVERY_RERUN;"),
    "a_rerun_keeps_the_watermark_but_plans_anew": (
        "server/worker/query.c",
        "query->intent = keep_intent(query, last);",
        "query->intent = NULL;"),
    "the_commit_record_is_left_out": (
        "server/worker/micro_batch.c",
        "    TRY_OUT(checkpoint_append_commit(query->checkpoint, batch_id, err));\n",
        ""),
    "the_changes_of_the_state_are_left_out": (
        "server/worker/batch_run.c",
        "        TRY(checkpoint_append_state(query->checkpoint, query->intent->batch_id, record, err));\n",
        ""),
    "a_snapshot_holds_less_than_it_says": (
        "server/state/state_store.c",
        "from->replay(from, applied + 1, version, &collector.base, err)",
        "from->replay(from, applied + 1, version - 1, &collector.base, err)"),
    "the_first_batch_after_a_snapshot_is_skipped": (
        "server/worker/state_snapshot.c",
        "load_log(query, loaded + 1, version, err)",
        "load_log(query, loaded + 2, version, err)"),
    "batches_that_were_taken_back_plan_anew": (
        "server/worker/batch_plan.c",
        "if (query->intent != NULL || id >= query->replay_end)",
        "if (id >= 0 || query->intent != NULL || id >= query->replay_end)"),
    "a_rewind_leaves_the_watermark": (
        "server/checkpoint/rewind.c",
        "    out->changes = last->changes;\n",
        ""),
    "a_rewind_forgets_what_runs_again": (
        "server/checkpoint/rewind.c",
        "{.replay_end = outcome->replay_end}",
        "{.replay_end = outcome->last_batch < 0 ? 0 : request->to_batch + 1}"),
    "what_is_on_the_disk_is_not_fetched": (
        "server/exec/node_stream_aggregate.c",
        "    return spill_fetch(&aggregate->spill, &loader.base, err);\n",
        "    (void)loader;\n    (void)err;\n    return OK;\n"),
    "what_is_put_away_does_not_reach_the_disk": (
        "server/state/spill.c",
        "    size_t count = spill->item_count;\n",
        "    size_t count = 0;\n"),
    "a_snapshot_has_the_first_change_of_a_key": (
        "server/state/state_store_changes.c",
        "bool last = i + 1 == changes->count || !bytes_equal(item->key, changes->items[i + 1].key);",
        "bool last = i == 0 || !bytes_equal(item->key, changes->items[i - 1].key);"),
    "a_file_of_another_attempt_is_kept_unseen": (
        "server/sink/sink_file.c",
        "        if (same) {\n            TRY(vfs_remove(vfs, part->staged, err));\n",
        "        if (same || staged > 0) {\n            TRY(vfs_remove(vfs, part->staged, err));\n"),
    "files_that_no_intent_has_are_passed_over": (
        "server/source/seen_files.c",
        "        if (entries[i].mtime_us == CONFIRMED)\n            continue;\n",
        "        if (entries[i].mtime_us != 0)\n            continue;\n"),
}

# Beside scenarios and drawn scenarios.
UNIT_TESTS = ["test_sink_sink_file", "test_checkpoint_rewind", "test_source_seen_files"]


def copy_tree(to):
    ignore = shutil.ignore_patterns("build", ".git", "*.o")
    shutil.copytree(ROOT, to, ignore=ignore)


def mutate(tree, name):
    path, old, new = MUTANTS[name]
    path = os.path.join(tree, path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(old) != 1:
        sys.exit(f"{name}: the text to replace stands {text.count(old)} times in {path}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    return path, text


def build(tree, out, jobs):
    configure = ["cmake", "-S", tree, "-B", out, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DFAILPOINTS=ON"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(["cmake", "--build", out, "-j", str(jobs), "--target", "scenario_run", "sim",
                           *UNIT_TESTS],
                          stdout=subprocess.DEVNULL).returncode == 0


def passes(tree, out):
    """True if every test is green."""
    def runner(name):
        return next(path for path in glob.glob(f"{out}/**/{name}", recursive=True)
                    if os.path.isfile(path) and os.access(path, os.X_OK))
    scenarios = (sorted(glob.glob(f"{tree}/tests/scenario/recovery/*.scn")) +
                 sorted(glob.glob(f"{tree}/tests/scenario/dedup/*.scn")) +
                 sorted(glob.glob(f"{tree}/tests/crash/*.scn")))
    commands = [[runner("scenario_run"), scenario] for scenario in scenarios]
    units = [[runner(name)] for name in UNIT_TESTS]
    for command in [*units, [runner("sim"), "1", "200"], *commands]:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the builds")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join(MUTANTS))
    arguments = parser.parse_args()
    names, jobs = arguments.names or list(MUTANTS), arguments.jobs
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as work:
        tree, out = os.path.join(work, "tree"), os.path.join(work, "out")
        copy_tree(tree)
        if not build(tree, out, jobs):
            sys.exit("the tree does not build")
        if not passes(tree, out):
            sys.exit("the tests are red without a mutant")
        for name in names:
            path, text = mutate(tree, name)
            noticed = not build(tree, out, jobs) or not passes(tree, out)
            print(f"{'caught  ' if noticed else 'SURVIVED'}  {name}", flush=True)
            if not noticed:
                survivors.append(name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
