/* Calls the kernel by x32's number of socket. A kernel without that interface has its own answer to it, too. */
int main(int argc, char **argv) {
	started();
	errno = 0;
	syscall(0x40000000 + 41, 2, 1, 0);
	printf("reached the kernel by an x32 number, which answered %d\n", errno);
	return 0;
}
