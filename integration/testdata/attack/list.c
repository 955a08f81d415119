/* Lists a folder that no rule grants, the home. argv: the folder. */
#include <dirent.h>
#include <stdio.h>

int main(int argc, char **argv) {
	char way[4096];
	const char *roots[] = {"", "/proc/self/root", "/proc/1/root"};
	puts("started");
	for (int i = 0; i < 3; i++) {
		snprintf(way, sizeof way, "%s%s", roots[i], argv[1]);
		DIR *d = opendir(way);
		if (!d) {
			perror(way);
			continue;
		}
		for (struct dirent *e; (e = readdir(d));)
			puts(e->d_name);
	}
	return 0;
}
