/* Opens a file by its handle, which needs no path. argv: the file, a folder of the same file system. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	struct {
		struct file_handle h;
		char room[128];
	} b = {.h.handle_bytes = 128};
	int mount;
	tell("name_to_handle_at", name_to_handle_at(AT_FDCWD, argv[1], &b.h, &mount, 0));
	show("open_by_handle_at", open_by_handle_at(open(argv[2], O_RDONLY), &b.h, O_RDONLY));
	return 0;
}
