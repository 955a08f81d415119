# string.Formatter does the same in Python, and hands real objects out.
#: exec wide ppppp magic
import string
print("reached", string.Formatter().format("{0.__cl" + "ass__}", 1))
#--
import string
print("reached", string.Formatter().get_field("0.__cl" + "ass__", (1,), {}))
#--
import string
print("reached", string.Formatter().vformat("{0.__cl" + "ass__}", (1,), {}))
#--
import string
class F(string.Formatter):
    def parse(self, text):
        return [("", "0.__cl" + "ass__", "", None)] if text else []
print("reached", F().format("harmless", 1))
#--
import string
class F(string.Formatter):
    def get_value(self, key, args, kwargs):
        return args[0]
print("reached", F().vformat("{x.__cl" + "ass__}", (1,), {}))
