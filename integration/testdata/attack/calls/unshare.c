/* Leaves each kind of namespace, each in a process of its own. */
int main(int argc, char **argv) {
	static const struct { const char *name, *link; int flag; } kinds[] = {{"user", "user", CLONE_NEWUSER}, {"mnt", "mnt", CLONE_NEWNS},
		{"uts", "uts", CLONE_NEWUTS}, {"ipc", "ipc", CLONE_NEWIPC}, {"net", "net", CLONE_NEWNET}, {"cgroup", "cgroup", CLONE_NEWCGROUP},
		{"time", "time_for_children", 0x80}};
	started();
	for (int i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (fork() == 0) {
			char path[64], before[64] = "", after[64] = "";
			snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i].link);
			readlink(path, before, sizeof before - 1);
			if (i)
				tell("user", unshare(CLONE_NEWUSER)); /* gives the right to all the others */
			tell(kinds[i].name, unshare(kinds[i].flag));
			if (readlink(path, after, sizeof after - 1) > 0 && strcmp(before, after))
				printf("reached a new namespace: %s\n", kinds[i].name);
			fflush(stdout);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
