/* Changes all it is given, each in its own way, and makes new names. argv: five files, a folder with one file, then names to make. */
#include "attack.h"

static void audit_write(const char *path, int flags) {
	int fd = open(path, O_WRONLY | flags, 0644);
	tell(path, fd < 0 ? -1 : write(fd, "written from inside\n", 20));
	if (fd >= 0) close(fd);
}

static void audit_names(const char *name) {
	char other[4200];
	audit_write(name, O_CREAT | O_TRUNC);
	snprintf(other, sizeof other, "%s.link", name);
	tell("symlink", symlink("/etc/passwd", other));
	snprintf(other, sizeof other, "%s.hard", name);
	tell("link", link(name, other));
	snprintf(other, sizeof other, "%s.folder", name);
	tell("mkdir", mkdir(other, 0755));
}

int main(int argc, char **argv) {
	char other[4200];
	struct utimbuf long_ago = {1, 1};
	started();
	audit_write(argv[1], O_APPEND);
	tell("truncate", truncate(argv[2], 0));
	tell("chmod", chmod(argv[3], 0600));
	tell("utime", utime(argv[3], &long_ago));
	tell("unlink", unlink(argv[4]));
	snprintf(other, sizeof other, "%s.new", argv[5]);
	audit_write(other, O_CREAT);
	tell("replace", rename(other, argv[5]));
	snprintf(other, sizeof other, "%s/kept", argv[6]);
	audit_write(other, O_TRUNC);
	snprintf(other, sizeof other, "%s.moved", argv[6]);
	tell("rename", rename(argv[6], other));
	for (int i = 7; i < argc; i++) audit_names(argv[i]);
	return 0;
}
