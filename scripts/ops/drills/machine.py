"""What a machine has, made for a drill: a clock that is wrong, certificates that end."""

import os
import struct

from kit import called

# A clock that a drill sets while the program runs: what glibc would say, and as many seconds as stand in a file.
CLOCK = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const volatile long *ahead;
__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_FILE"), O_RDONLY);
    void *kept = file < 0 ? MAP_FAILED : mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    if (kept == MAP_FAILED) abort();
    ahead = kept;
}
int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && id == CLOCK_REALTIME && ahead) now->tv_sec += *ahead;
    return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *kept) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) *kept = now.tv_sec;
    return now.tv_sec;
}
"""


class Clock:
    """The clock of the programs that are started with its environment."""

    def __init__(self, directory):
        source, library, self.file = directory / "clock.c", directory / "clock.so", directory / "clock"
        source.write_text(CLOCK)
        called(["cc", "-O1", "-shared", "-fPIC", "-o", library, source])
        self.file.write_bytes(struct.pack("l", 0))
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_FILE": str(self.file)}

    def set(self, seconds):
        with self.file.open("r+b") as file:
            file.write(struct.pack("l", seconds))


class Authority:
    """An authority of the drill, and certificates of `localhost`."""

    def __init__(self, drill):
        self.directory, self.clock = drill.directory, Clock(drill.directory)
        self.file, self.key, self.pair = self.path("ca.pem"), self.path("ca.key"), (self.path("hq.pem"), self.path("hq.key"))
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        # Longer ago than any certificate.
        self.openssl(-400, "req", "-x509", *new, "-keyout", self.key, "-out", self.file, "-days", "800", "-subj", "/CN=Drill")

    def path(self, name):
        return self.directory / name

    def openssl(self, days_ago, *words):
        self.clock.set(days_ago * 86400)
        called(["openssl", *words], env=os.environ | self.clock.environment)

    def issue(self, days_ago, days):
        """Certificate and key, put in place as a renewal does: a new file under the old name."""
        request, about, made = self.path("request"), self.path("about"), (self.path("new.pem"), self.path("new.key"))
        about.write_text("subjectAltName=DNS:localhost\n")
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self.openssl(days_ago, "req", *new, "-keyout", made[1], "-out", request, "-subj", "/CN=localhost")
        signed = ["-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", str(days), "-extfile", about]
        self.openssl(days_ago, "x509", "-req", "-in", request, *signed, "-out", made[0])
        for source, place in zip(made, self.pair):
            source.replace(place)

    def both(self):
        """Certificate and key in one file, as a balancer wants them."""
        file = self.path("both.pem")
        file.write_text("".join(part.read_text() for part in self.pair))
        return file
