/* Opens descriptors until there are no more, and makes a refused call then. argv: how many at most. */
int main(int argc, char **argv) {
	int n = 0;
	started();
	while (n < atoi(argv[1]) && dup(1) >= 0)
		n++;
	if (n == atoi(argv[1]))
		printf("reached %d descriptors\n", n);
	syscall(SYS_keyctl, 0, -4, 0);
	printf("asked keyctl %d\n", errno);
	return 0;
}
