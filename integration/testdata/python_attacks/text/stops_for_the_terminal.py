# What waits for somebody at the terminal, or ends the host.
#: eval wide ssssss call
breakpoint
#--
input
#--
help
#--
exit
#--
quit
#--
license
