/* Looks for processes of the host and ends one. argv: a process id. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
	char name[300], text[4096];
	puts("started");
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(name, sizeof name, "/proc/%s/cmdline", e->d_name);
		int fd = open(name, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
		for (ssize_t i = 0; i < n; i++)
			putchar(text[i] ? text[i] : ' ');
		putchar('\n');
		if (fd >= 0)
			close(fd);
	}
	if (kill(atoi(argv[1]), SIGTERM) < 0)
		perror("kill");
	return 0;
}
