/* Enters the namespaces of a child that left its own, by a descriptor of the process. */
int main(int argc, char **argv) {
	char before[64] = "", after[64] = "", c;
	int told[2];
	started();
	pipe(told);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		tell("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNET));
		write(told[1], "x", 1);
		pause();
	}
	read(told[0], &c, 1);
	readlink("/proc/self/ns/net", before, sizeof before - 1);
	tell("setns", setns(syscall(SYS_pidfd_open, pid, 0), CLONE_NEWUSER | CLONE_NEWNET));
	if (readlink("/proc/self/ns/net", after, sizeof after - 1) > 0 && strcmp(before, after))
		puts("reached the network namespace of another process");
	kill(pid, SIGKILL);
	return 0;
}
