package integration

// kernelPolicy begins the policy of a test that is about the kernel's walls: it grants everything inside Python, in lines that stand in the
// policy like others, so that what refuses is never psb's code inside Python. A policy with shim = false begins with bareVersion: there is
// nothing to grant.
const kernelPolicy = bareVersion + kernelTables

// kernelTables are the tables of kernelPolicy, for a policy that begins otherwise.
const kernelTables = "[python.import]\n\"*\" = true\n[python.call]\n\"*\" = true\n"

// bareVersion begins a policy that grants nothing.
const bareVersion = "version = 1\n"
