// argv[1] vforks of argv[2], each with a file of its own as argument.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
	int n = atoi(argv[1]), bad = 0;
	for (int i = 0; i < n; i++) {
		char name[4096];
		snprintf(name, sizeof name, "%s/in%d", argv[2], i);
		pid_t p = vfork();
		if (p == 0) { execl("/bin/cat", "cat", name, (char *)0); _exit(9); }
		int st;
		waitpid(p, &st, 0);
		bad += st != 0;
	}
	return bad != 0;
}
