import subprocess
import sys
import venv

venv.create("env", symlinks=True)
pip = [sys.executable, "-m", "pip", "--python", "env/bin/python", "--disable-pip-version-check", "--no-cache-dir"]
subprocess.run([*pip, "install", "-q", "--no-index", "wheels/rates-1.0-py3-none-any.whl"], check=True)
subprocess.run(["env/bin/python", "-c", "import rates; print(rates.EUR)"], check=True)
