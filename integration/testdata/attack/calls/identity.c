/* Becomes root in a user namespace of its own. */
int main(int argc, char **argv) {
	char map[32];
	int n = snprintf(map, sizeof map, "0 %d 1", getuid());
	started();
	tell("unshare", unshare(CLONE_NEWUSER));
	tell("uid_map", write(open("/proc/self/uid_map", O_WRONLY), map, n));
	tell("setresuid", setresuid(0, 0, 0));
	if (getuid() == 0 || geteuid() == 0)
		puts("reached root");
	return 0;
}
