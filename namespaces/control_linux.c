// Does to the process: sends and receives messages of one fixed size; psb_fail ends it.
// Undone: not.
// Preconditions: fd is one end of a SOCK_SEQPACKET pair whose other end is psb; SIGPIPE is blocked, as it is in every stage.
// Called by: every stage.
// Proved by: TestStageErrors, TestExitStatus, TestMessageSize.
#include "stage2_linux.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct message) == 256, "box_linux.go reads 256 bytes");

uint64_t psb_times[T_ALL];

void psb_time(int at) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	psb_times[at] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// write(2) and read(2), not send and recv: they are what every filter leaves alone.
bool psb_send(int fd, const struct message *m) {
	ssize_t n;
	do n = write(fd, m, sizeof *m); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

bool psb_receive(int fd, struct message *m) {
	ssize_t n;
	do n = read(fd, m, sizeof *m); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

bool psb_send_descriptors(int fd, const struct message *m, const int *list, size_t count) {
	union { struct cmsghdr head; char room[CMSG_SPACE(2 * sizeof(int))]; } box;
	struct iovec part = {(void *)(uintptr_t)m, sizeof *m};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &box, .msg_controllen = CMSG_SPACE(count * sizeof *list)};
	ssize_t n;
	memset(&box, 0, sizeof box);
	box.head.cmsg_level = SOL_SOCKET;
	box.head.cmsg_type = SCM_RIGHTS;
	box.head.cmsg_len = CMSG_LEN(count * sizeof *list);
	memcpy(CMSG_DATA(&box.head), list, count * sizeof *list);
	do n = sendmsg(fd, &h, MSG_NOSIGNAL); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

void psb_fail(int fd, const char *stage, const char *format, ...) {
	struct message m = {.kind = M_ERROR, .a = errno};
	char what[192];
	va_list ap;
	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	snprintf(m.text, sizeof m.text, "%.20s: %s", stage, what);
	psb_send(fd, &m);
	_exit(125);
}
