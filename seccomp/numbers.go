package seccomp

// newer holds the calls that libseccomp 2.5.4 does not know, with the numbers that every interface shares since Linux 5.1.
// A later library knows more of them and is asked first.
var newer = map[string]int{
	"quotactl_fd":             443,
	"memfd_secret":            447,
	"process_mrelease":        448,
	"futex_waitv":             449,
	"set_mempolicy_home_node": 450,
	"cachestat":               451,
	"fchmodat2":               452,
	"map_shadow_stack":        453,
	"futex_wake":              454,
	"futex_wait":              455,
	"futex_requeue":           456,
	"statmount":               457,
	"listmount":               458,
	"lsm_get_self_attr":       459,
	"lsm_set_self_attr":       460,
	"lsm_list_modules":        461,
	"mseal":                   462,
	"setxattrat":              463,
	"getxattrat":              464,
	"listxattrat":             465,
	"removexattrat":           466,
	"open_tree_attr":          467,
	"file_getattr":            468,
	"file_setattr":            469,
	"listns":                  470,
	"rseq_slice_yield":        471,
}

// onlyAMD64 numbers are not shared.
var onlyAMD64 = map[string]int{"uretprobe": 335, "uprobe": 336}
