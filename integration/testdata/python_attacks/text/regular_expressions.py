# A pattern that goes back and forth for ever.
#: exec bounded ii timeout
import re
re.match("(a+)+$", "a" * 40 + "b")
#--
import re
re.compile("(x+x+)+y").search("x" * 60)
