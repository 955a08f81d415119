/* Reads the memory of a child at the place where it drew a number, and compares it with what the child said. */
int main(int argc, char **argv) {
	static char secret[16], told[16], text[16];
	int said[2];
	started();
	pipe(said);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		syscall(SYS_getrandom, secret, sizeof secret, 0);
		write(said[1], secret, sizeof secret);
		pause();
		_exit(0);
	}
	read(said[0], told, sizeof told);
	struct iovec here = {text, sizeof text}, there = {secret, sizeof secret};
	tell("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0));
	if (!memcmp(text, told, sizeof told))
		puts("reached the memory of a process");
	kill(pid, SIGKILL);
	return 0;
}
