# From a generator to its frame, without an underscore.
#: eval never ssppp attribute
(lambda g: g.gi_frame.f_globals)(x for x in [1])
#--
(x for x in [1]).gi_code
#--
getattr((x for x in [1]), "gi_" + "frame")
#--
list(map(getattr, [(x for x in [1])], ["gi_" + "code"]))
#--
("{0.gi_" + "frame}").format(x for x in [1])
