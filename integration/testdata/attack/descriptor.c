/* Reads whatever descriptors it was given beside 0, 1 and 2. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
	char text[4096];
	puts("started");
	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n = pread(fd, text, sizeof text, 0);
		if (n > 0)
			printf("%d %.*s\n", fd, (int)n, text);
	}
	return 0;
}
