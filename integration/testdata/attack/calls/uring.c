/* Opens and reads a file through a ring, where no filter sees it. argv: the file. */
#include <linux/io_uring.h>

static int uring_submit(int ring, struct io_uring_params *p, char *sq, struct io_uring_sqe *e, struct io_uring_sqe wish) {
	unsigned *tail = (unsigned *)(sq + p->sq_off.tail), slot = *tail & *(unsigned *)(sq + p->sq_off.ring_mask);
	unsigned *head = (unsigned *)(sq + p->cq_off.head); /* one mapping holds both rings */
	e[slot] = wish;
	((unsigned *)(sq + p->sq_off.array))[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	int result = ((struct io_uring_cqe *)(sq + p->cq_off.cqes))[*head & *(unsigned *)(sq + p->cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

int main(int argc, char **argv) {
	struct io_uring_params p = {0};
	static char text[4096];
	started();
	int ring = tell("io_uring_setup", syscall(SYS_io_uring_setup, 8, &p));
	if (ring < 0)
		return 0;
	char *sq = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *e = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	int fd = uring_submit(ring, &p, sq, e, (struct io_uring_sqe){.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)argv[1]});
	uring_submit(ring, &p, sq, e, (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)text, .len = sizeof text - 1});
	puts(text);
	return 0;
}
