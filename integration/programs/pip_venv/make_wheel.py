"""Writes wheels/rates-1.0-py3-none-any.whl, as a build would."""
import os
import zipfile

os.makedirs("wheels", exist_ok=True)
info = "rates-1.0.dist-info/"
with zipfile.ZipFile("wheels/rates-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("rates.py", "EUR = 1.1\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: rates\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\nrates = rates:main\n")
    wheel.writestr(info + "RECORD", "rates.py,,\n" + "".join(info + n + ",,\n" for n in ("METADATA", "WHEEL", "entry_points.txt", "RECORD")))
