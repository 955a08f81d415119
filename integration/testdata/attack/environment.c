/* Looks for variables that were set outside. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(void) {
	char text[65536];
	puts("started");
	for (char **e = environ; *e; e++)
		puts(*e);
	int fd = open("/proc/1/environ", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	for (ssize_t i = 0; i < n; i++)
		putchar(text[i] ? text[i] : '\n');
	return 0;
}
