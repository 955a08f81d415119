# A file by the codecs that a module of data carries.
#: exec wide p attribute|import
import json
print("reached", json.codecs.open(path).read())
