import os
import subprocess
import unittest.mock as mock

with mock.patch("os.getcwd", return_value="/patched") as p, mock.patch.object(subprocess, "run") as run, mock.patch.dict(os.environ, {"WORD": "w"}):
    print(os.getcwd(), os.environ["WORD"], p.call_count, subprocess.run(["x"], check=True) is run.return_value, run.call_args)
with mock.patch("os.kill", autospec=True) as kill:
    os.kill(1, 9)
    kill.assert_called_once_with(1, 9)
with mock.patch("builtins.open", mock.mock_open(read_data="data")):
    print(open("nothing").read())
with mock.patch("os.fork", side_effect=OSError("no")), mock.patch("builtins.eval", lambda s: "patched"):
    try:
        os.fork()
    except OSError as e:
        print(e, eval("1"))
spec = mock.create_autospec(subprocess.Popen)
print(isinstance(mock.Mock(spec=dict), dict), spec.return_value.wait.called, eval("1 + 1"))
try:
    mock.Mock().f.assert_called_once()
except AssertionError as e:
    print(e)
