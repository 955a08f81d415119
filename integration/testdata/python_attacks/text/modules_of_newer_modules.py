# The same of a module that has it since 3.9.
#: exec wide p attribute|import 3.11
import statistics
print("reached", statistics.sys)
