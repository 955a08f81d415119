/* Goes through the links of /proc that lead to roots and working folders. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[PATH_MAX];
	const char *roots[] = {"/proc/thread-self/root", "/proc/self/cwd/../../../../../../../../../..", "/proc/2/root", "/proc/self/fd/0/../..", "/dev/fd/../root"};
	for (int i = 0; i < 5; i++) {
		snprintf(way, sizeof way, "%s%s", roots[i], argv[1]);
		show(way, open(way, O_RDONLY));
	}
	return 0;
}
