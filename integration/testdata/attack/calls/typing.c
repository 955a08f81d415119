/* Types a line into a terminal: its own when it can make one, or the one it stands on. argv: "own" or "here", the line. */
#include <sys/ioctl.h>
#include <termios.h>

int main(int argc, char **argv) {
	char text[100] = "", c = '\n', *p;
	int fd = 0, master, no = 0, discipline = 0;
	started();
	if (!strcmp(argv[1], "own") && tell("ptmx", master = open("/dev/ptmx", O_RDWR | O_NOCTTY)) >= 0) {
		ioctl(master, TIOCSPTLCK, &no);
		fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
		setsid();
		tell("controls it", ioctl(fd, TIOCSCTTY, 0));
	}
	for (p = argv[2]; *p && tell("TIOCSTI", ioctl(fd, TIOCSTI, p)) == 0; p++)
		;
	tell("TIOCSTI", syscall(SYS_ioctl, fd, 1L << 32 | TIOCSTI, &c));
	if (tell("TIOCSETD", ioctl(fd, TIOCSETD, &discipline)) == 0)
		puts("reached TIOCSETD");
	if (fd > 0) {
		fcntl(fd, F_SETFL, O_NONBLOCK);
		if (read(fd, text, sizeof text - 1) > 0)
			printf("reached the input of a terminal: %s\n", text);
	}
	return 0;
}
