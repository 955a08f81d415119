# A module among the caller's names opens all others.
#: eval wide pp import|attribute|call
lib.import_module("o" + "s")
#--
getattr(lib, "import_" + "module")("os")
