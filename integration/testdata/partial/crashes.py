"""Boxes that end: how the caller hears of it, and what is started again."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from psb import SandBoxCrashed, SandBoxError, sandbox, sandboxes

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = os.path.join(HERE, ".py-sandboxes")
begun = []


def children():
    with open("/proc/self/task/%d/children" % os.getpid()) as f:
        return f.read().split()


def begin():
    begun.append(1)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def chatter():
    while True:
        print("still loading", flush=True)
        time.sleep(0.05)


@sandbox
def pid():
    return os.getpid(), len(begun)


@sandbox
def leave(status):
    os._exit(status)


@sandbox
def die(number):
    os.kill(os.getpid(), number)
    time.sleep(60)


@sandbox
def fault():
    import ctypes

    ctypes.string_at(0)


@sandbox
async def awaited(n):
    return n


@sandbox
def wait(seconds):
    time.sleep(seconds)
    return seconds


@sandbox
def eat():
    keep = []
    while True:
        keep.append(bytearray(1 << 24))
        keep[-1][:: 4096] = b"x" * len(keep[-1][:: 4096])


class Crashes(unittest.TestCase):
    def test_each_kind_of_end_is_told_and_the_next_call_has_a_new_box(self):
        with sandboxes(begin, policy=POLICY):
            for end, status in (
                (lambda: leave(3), 3),
                (lambda: leave(0), 0),
                (lambda: die(signal.SIGKILL), -signal.SIGKILL),
                (lambda: die(signal.SIGTERM), -signal.SIGTERM),
                (fault, -signal.SIGSEGV),
            ):
                self.assertEqual(pid()[1], 1)  # init_fn ran once in each box
                with self.assertRaises(SandBoxCrashed) as caught:
                    end()
                self.assertEqual(caught.exception.status, status)
            self.assertEqual(pid()[1], 1)

    def test_a_limit_is_named(self):
        with sandboxes(policy=POLICY, limits={"wall": "2s"}):
            with self.assertRaisesRegex(SandBoxCrashed, "ended by the limit wall") as caught:
                wait(60)
            self.assertEqual(caught.exception.status, 124)

    def test_calls_in_flight_end_and_calls_that_were_not_begun_are_repeated(self):
        with sandboxes(policy=POLICY):
            pid()
            with ThreadPoolExecutor(4) as pool:
                flying = [pool.submit(wait, 60) for _ in range(3)]
                while wait_begun() < 3:
                    time.sleep(0.005)
                self.assertRaises(SandBoxCrashed, leave, 9)
                for f in flying:
                    self.assertEqual(f.exception().status, 9)
            stop = threading.Event()
            failed = []

            def calls():
                while not stop.is_set():
                    try:
                        self.assertEqual(wait(0), 0)
                    except SandBoxCrashed:
                        pass  # it was begun
                    except BaseException as e:
                        failed.append(e)
                        return

            threads = [threading.Thread(target=calls) for _ in range(4)]
            [t.start() for t in threads]
            for _ in range(2):
                self.assertRaises(SandBoxCrashed, leave, 1)
                wait(0)
            stop.set()
            [t.join() for t in threads]
            self.assertEqual(failed, [])

    def test_after_three_in_a_row_nothing_is_started_any_more(self):
        with sandboxes(policy=POLICY):
            for _ in range(2):
                self.assertRaises(SandBoxCrashed, leave, 1)
            pid()
            for _ in range(3):
                self.assertRaises(SandBoxCrashed, leave, 1)
            with self.assertRaisesRegex(SandBoxError, "ended 3 times in a row .*exit status 1.*: it is not started again"):
                pid()
        with sandboxes(policy=POLICY):
            pid()

    def test_a_refused_start_says_why(self):
        for arguments, words in (
            (dict(policy=HERE + "/none"), "no such file"),
            (dict(policy=POLICY, limits={"memry": "1G"}), 'unknown limit memry, did you mean "memory"'),
            (dict(policy=POLICY, python="/no/python"), "no/python"),
            (dict(policy=POLICY, python_args=["-O", "--frob"]), "said why on standard error"),
        ):
            with self.assertRaisesRegex(SandBoxError, words):
                with sandboxes(**arguments):
                    self.fail("never here")

    def test_a_box_that_does_not_get_ready_is_ended(self):
        for init_fn in (stop, chatter):
            block = sandboxes(init_fn, policy=POLICY, start_timeout=3, python_call=["process-control"])
            with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(SandBoxError, "not ready after 3 seconds") as e:
                block.__enter__()
            self.assertNotIsInstance(e.exception, SandBoxCrashed)
            self.assertEqual(e.exception.hint, "sandboxes(start_timeout=SECONDS)")
            # Nothing of it is left: neither a process nor a block that is open.
            self.assertEqual(children(), [])
        with sandboxes(begin, policy=POLICY, start_timeout=None):
            self.assertEqual(pid()[1], 1)

        async def tasks():
            async with sandboxes(stop, policy=POLICY, start_timeout=3, python_call=["process-control"]):
                pass

        with self.assertRaisesRegex(SandBoxError, "not ready after 3 seconds"):
            asyncio.run(tasks())
        for wrong in (0, -1, 1e300):
            self.assertRaises(ValueError, sandboxes, start_timeout=wrong)

    def test_a_closed_block_ends_its_box(self):
        with sandboxes(policy=POLICY):
            pid()
            from psb.partial import block as module

            process = module._block._box.process
        self.assertEqual(process.wait(0.1), 0)
        with sandboxes(policy=POLICY, graceful_shutdown=False):
            process = module._block._box.process
            t = threading.Thread(target=lambda: self.assertRaises(SandBoxCrashed, wait, 60))
            t.start()
            while wait_begun() < 1:
                time.sleep(0.005)
        t.join(20)
        self.assertFalse(t.is_alive())
        self.assertIsNotNone(process.poll())

    def test_a_graceful_end_waits_for_calls(self):
        got = []
        with sandboxes(policy=POLICY):
            t = threading.Thread(target=lambda: got.append(wait(0.3)))
            t.start()
            while wait_begun() < 1:
                time.sleep(0.005)
        t.join()
        self.assertEqual(got, [0.3])

    def test_a_box_that_stops_reading_does_not_hold_the_loop(self):
        # More calls than the channel has room for: each is given up on time, and none holds the others.
        async def calls():
            async with sandboxes(policy=POLICY, graceful_shutdown=False):
                self.assertEqual(await awaited(1), 1)
                loop = asyncio.get_running_loop()
                stopped = loop.run_in_executor(None, die, signal.SIGSTOP)
                while wait_begun() < 1:
                    await asyncio.sleep(0.005)
                late = 0
                for n in range(2500):
                    try:
                        await asyncio.wait_for(awaited(n), 0.001)
                    except asyncio.TimeoutError:
                        late += 1
                stopped.cancel()
                return late

        self.assertGreater(asyncio.run(calls()), 2000)


def wait_begun():
    """Calls that entered their function."""
    from psb.partial import block as module

    return module._block._box.begun()


if __name__ == "__main__":
    unittest.main(verbosity=2)
