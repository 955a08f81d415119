/* Lays filters of its own over those it wears: one that allows all, and one with a listener. */
#include <linux/filter.h>
#include <linux/seccomp.h>

int main(int argc, char **argv) {
	struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &all};
	started();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	tell("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	tell("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	if (tell("unshare", unshare(CLONE_NEWUSER)) == 0)
		puts("reached a namespace behind a filter of its own");
	if (tell("listener", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)) >= 0)
		puts("reached a listener of its own");
	return 0;
}
