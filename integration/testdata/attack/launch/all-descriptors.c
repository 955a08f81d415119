/* Reads from every descriptor /proc shows. argv: none. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	DIR *d = opendir("/proc/self/fd");
	char text[4096];
	for (struct dirent *e; d && (e = readdir(d));) {
		ssize_t n = atoi(e->d_name) < 3 ? 0 : pread(atoi(e->d_name), text, sizeof text, 0);
		printf("%s %.*s\n", e->d_name, n < 0 ? 0 : (int)n, text);
	}
	return 0;
}
