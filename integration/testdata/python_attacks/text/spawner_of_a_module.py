# A private function of uuid starts a program.
#: exec wide ss attribute|import
import uuid
print("reached", uuid._load_system_functions if hasattr(uuid, "_load_system_functions") else uuid._arp_getnode)
#--
import uuid
print("reached", uuid._ifconfig_getnode)
