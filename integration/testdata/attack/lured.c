/* Prints the file TARGET. It has no loader, so that what its dynamic section asks for is nobody's business but psb's. */
#if defined(__x86_64__)
static long call(long n, long a, long b, long c) {
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
enum { READ = 0, WRITE = 1, EXIT = 60 };
#define OPEN(path) call(2, (long)(path), 0, 0)
#elif defined(__aarch64__)
static long call4(long n, long a, long b, long c, long d) {
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#define call(n, a, b, c) call4(n, a, b, c, 0)
enum { READ = 63, WRITE = 64, EXIT = 93 };
#define OPEN(path) call(56, -100, (long)(path), 0)
#endif

void _start(void) {
	char text[4096];
	call(WRITE, 1, (long)"started\n", 8);
	long fd = OPEN(TARGET);
	if (fd >= 0)
		call(WRITE, 1, (long)text, call(READ, fd, (long)text, sizeof text));
	call(EXIT, fd < 0, 0, 0);
}
