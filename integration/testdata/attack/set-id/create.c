/* Makes a file that is set-user-ID from the start. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[PATH_MAX];
	uint64_t how[3] = {O_CREAT | O_WRONLY, 04755, 0};
	umask(0);
	for (int i = 0; i < 4; i++) {
		snprintf(way, sizeof way, "%s.%d", argv[1], i);
		tell(way, i == 0 ? open(way, O_CREAT | O_WRONLY, 04755) : i == 1 ? creat(way, 04755) : i == 2 ? mknod(way, S_IFREG | 04755, 0) : syscall(SYS_openat2, AT_FDCWD, way, how, sizeof how));
	}
	return 0;
}
