# The same by "from".
#: exec wide ppp attribute|import
from uuid import os
print("reached", os)
#--
from json import codecs
print("reached", codecs)
#--
from typing import sys as s
print("reached", s)
