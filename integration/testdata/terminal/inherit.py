# Starts its arguments with some signals blocked and some ignored.
import os
import signal
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT])
for number in (signal.SIGHUP, signal.SIGUSR2, signal.SIGQUIT, signal.SIGTSTP):
    signal.signal(number, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
