# The pickling protocol gives getattr and the owner.
#: eval never ssss magic
data.append.__reduce__()[0](data, "__class__")
#--
data.append.__self__
#--
().__reduce_ex__(2)
#--
(1).__getnewargs__()
