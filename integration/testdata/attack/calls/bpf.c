/* Makes a map of the kernel's; who may not do that asks for what does not exist. */
int main(int argc, char **argv) {
	unsigned attr[30] = {2, 4, 4, 1};
	started();
	if (tell("a map", syscall(SYS_bpf, 0, attr, sizeof attr)) >= 0)
		puts("reached bpf: a map");
	memset(attr, 0, sizeof attr);
	if (tell("an unknown command", syscall(SYS_bpf, 999, attr, sizeof attr)) < 0 && errno != EPERM)
		puts("reached bpf: an answer of its own");
	return 0;
}
