/* Attaches to a process and reads its memory. argv: a process id, an address in it, how much. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	int pid = atoi(argv[1]);
	char *address = (void *)strtoul(argv[2], NULL, 10);
	if (tell("attach", ptrace(PTRACE_ATTACH, pid, 0, 0)) < 0)
		return 0;
	waitpid(pid, NULL, __WALL);
	for (long at = 0; at < atol(argv[3]); at += 8) {
		long word = ptrace(PTRACE_PEEKDATA, pid, address + at, 0);
		fwrite(&word, 1, 8, stdout);
	}
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return 0;
}
