/* Stops, replaces or changes the machine, as far as arguments that are wrong can. */
int main(int argc, char **argv) {
	static const struct { const char *name; long number, args[4]; } calls[] = {{"reboot", SYS_reboot, {0, 0, 0, 0}},
		{"kexec_load", SYS_kexec_load, {0, 17, 0, 0xff000000}}, {"init_module", SYS_init_module, {1, 0, 1}}, {"swapon", SYS_swapon, {1, 0}},
		{"settimeofday", SYS_settimeofday, {1, 0}}, {"clock_settime", SYS_clock_settime, {0, 1}}, {"sethostname", SYS_sethostname, {0, -1}},
		{"quotactl", SYS_quotactl, {0x80000700, 1, 0, 0}}, {"syslog", SYS_syslog, {99, 0, 0}}};
	started();
	for (int i = 0; i < sizeof calls / sizeof *calls; i++) {
		const long *a = calls[i].args;
		errno = 0;
		syscall(calls[i].number, a[0], a[1], a[2], a[3]);
		printf("asked %s %d\n", calls[i].name, errno);
	}
	return 0;
}
