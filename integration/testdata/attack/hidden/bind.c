/* Binds the folder that is hidden to another place, in namespaces of its own and directly. argv: the folder, the file, the place, "apart" or "all". */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[PATH_MAX];
	int apart = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 || unshare(CLONE_NEWNS) == 0;
	if (apart)
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL); /* nothing of this reaches the host */
	if (apart || strcmp(argv[4], "all") == 0) {
		tell("mount", mount(argv[1], argv[3], NULL, MS_BIND | MS_REC, NULL));
		tell("open_tree", syscall(428, AT_FDCWD, argv[1], 1));
	}
	snprintf(way, sizeof way, "%s/%s", argv[3], argv[2]);
	show(way, open(way, O_RDONLY));
	return 0;
}
