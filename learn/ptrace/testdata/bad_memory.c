// Arguments that cannot be read: a bad pointer, a path that ends exactly at the end of its page, one that does not end.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
int main(int argc, char **argv) {
	char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p + 4096, 4096, PROT_NONE);
	if (syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY) != -1 || errno != EFAULT) return 1;
	if (syscall(SYS_openat, AT_FDCWD, p + 4096, O_RDONLY | O_CREAT, 0600) != -1 || errno != EFAULT) return 2;
	size_t n = strlen(argv[1]) + 1;
	memcpy(p + 4096 - n, argv[1], n);
	int fd = syscall(SYS_openat, AT_FDCWD, p + 4096 - n, O_RDONLY);
	if (fd < 0) return 3;
	memset(p, 'a', 4096);
	if (syscall(SYS_openat, AT_FDCWD, p + 3996, O_RDONLY) != -1 || errno != EFAULT) return 4;
	if (syscall(SYS_write, -0x505342, (char *)8, 100) != -1 || errno != EBADF) return 5;
	if (syscall(SYS_connect, 0, (char *)8, 16) != -1) return 6;
	if (syscall(SYS_mkdirat, AT_FDCWD, (char *)8, 0700) != -1 || errno != EFAULT) return 7;
	return 0;
}
