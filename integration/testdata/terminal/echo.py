#!/usr/bin/env psb
# Prints its own name and arguments as bytes.
import os
import sys

print([os.fsencode(a) for a in sys.argv], os.fsencode(os.path.basename(__file__)))
