/* Kinds of loops whose iterations are known: kinds NAME. Beside each stands how many it has. Every function is one kind
   in small; bodies compute tens to hundreds of microseconds between their calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16, MOST_RANKS = 64 };

static int rank, size, left, right;
static double here[MOST], there[MOST];
static volatile double sink;
static unsigned state = 1;

static void compute(double us)
{
    double sum = 1;
    for (long i = 0; i < (long)(us * 450); i++) sum = sum * 1.0000001 + 1e-9;
    sink = sum;
}

/* From 0 to before n; the same on all ranks that began with the same state. */
static int drawn(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 10) % (unsigned)n);
}

static void halo(int n)
{
    MPI_Request requests[4];
    MPI_Irecv(there, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(there + n, n, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(here, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(here + n, n, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sum_of(int n)
{
    MPI_Allreduce(here, there, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void swap(int to, int from, int n)
{
    MPI_Sendrecv(here, n, MPI_DOUBLE, to, 4, there, n, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* 54: one call, the partner is now on the right and now on the left */
static void partners_in_turn(void)
{
    for (int i = 0; i < 54; i++) {
        compute(260);
        swap(i % 2 ? left : right, i % 2 ? right : left, 200);
    }
}

/* 36: stages 1, 2, 3 of five communicate, the others and the update only compute */
static void silent_stages(void)
{
    for (int i = 0; i < 36; i++) {
        for (int stage = 0; stage < 5; stage++) {
            compute(160);
            if (stage && stage < 4) halo(100);
        }
        compute(120);
    }
}

/* 44: the first iteration sets up what the others use */
static void first_does_more(void)
{
    for (int i = 0; i < 44; i++) {
        if (!i) {
            MPI_Comm own;
            MPI_Bcast(here, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            MPI_Comm_dup(MPI_COMM_WORLD, &own);
            MPI_Comm_free(&own);
            for (int k = 0; k < 6; k++) {
                compute(300);
                halo(80);
            }
        }
        compute(400);
        halo(200);
        compute(90);
        sum_of(1);
    }
}

/* 150: a norm each 10th, an output each 50th */
static void norm_and_output(void)
{
    for (int i = 1; i <= 150; i++) {
        compute(180);
        halo(64);
        if (i % 10 == 0) sum_of(1);
        if (i % 50 == 0) MPI_Gather(here, 64, MPI_DOUBLE, there, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* 64: a third of the steps is rejected before its last exchange */
static void rejected_steps(void)
{
    state = 99;
    for (int i = 0; i < 64; i++) {
        compute(240);
        halo(96);
        compute(80);
        sum_of(1);
        if (drawn(3) == 0) continue;
        compute(60);
        halo(24);
    }
}

/* 40: six exchanges of one place, then one long computation */
static void long_computation(void)
{
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 6; k++) {
            compute(12);
            halo(48);
        }
        compute(1500);
    }
}

/* 400: all alike */
static void uniform(void)
{
    for (int i = 0; i < 400; i++) {
        compute(150);
        halo(64);
        sum_of(1);
    }
}

/* 25: waves through the ranks, forwards and back */
static void wavefronts(void)
{
    for (int i = 0; i < 25; i++) {
        for (int k = 0; k < 8; k++) {
            if (rank) MPI_Recv(there, 20, MPI_DOUBLE, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(25);
            if (rank < size - 1) MPI_Send(here, 20, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD);
        }
        for (int k = 0; k < 8; k++) {
            if (rank < size - 1) MPI_Recv(there, 20, MPI_DOUBLE, rank + 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(25);
            if (rank) MPI_Send(here, 20, MPI_DOUBLE, rank - 1, 6, MPI_COMM_WORLD);
        }
        compute(100);
        sum_of(5);
    }
}

static void cycle(int level)
{
    compute(20 << (2 * level));
    halo(16 << level);
    if (level) cycle(level - 1);
    compute(10 << (2 * level));
    halo(16 << level);
}

/* 22: V-cycles over 4 levels */
static void v_cycles(void)
{
    for (int i = 0; i < 22; i++) {
        cycle(3);
        sum_of(1);
    }
}

/* 45 and then 32: two loops */
static void two_loops(void)
{
    for (int i = 0; i < 45; i++) {
        compute(700);
        halo(64);
    }
    compute(2000);
    for (int i = 0; i < 32; i++) {
        compute(900);
        sum_of(8);
        compute(300);
        MPI_Alltoall(here, 8, MPI_DOUBLE, there, 8, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

/* 52: the root takes turns, the work gets less */
static void roots_in_turn(void)
{
    for (int i = 0; i < 52; i++) {
        if (rank == i % size) compute(90);
        MPI_Bcast(here, 200, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
        compute(14.0 * (52 - i));
    }
}

/* 14: in each 9 exchanges, then a check */
static void restarts(void)
{
    for (int i = 0; i < 14; i++) {
        for (int k = 0; k < 9; k++) {
            compute(110);
            halo(80);
        }
        compute(700);
        sum_of(1);
        compute(400);
    }
}

/* 3 */
static void three(void)
{
    MPI_Bcast(here, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        compute(9000);
        halo(400);
        compute(5000);
        MPI_Alltoall(here, 64, MPI_DOUBLE, there, 64, MPI_DOUBLE, MPI_COMM_WORLD);
        sum_of(2);
    }
    MPI_Gather(here, 4, MPI_DOUBLE, there, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* 21: transforms forwards and back */
static void transforms(void)
{
    for (int i = 0; i < 21; i++) {
        compute(500);
        MPI_Alltoall(here, 128, MPI_DOUBLE, there, 128, MPI_DOUBLE, MPI_COMM_WORLD);
        compute(200);
        MPI_Alltoall(here, 128, MPI_DOUBLE, there, 128, MPI_DOUBLE, MPI_COMM_WORLD);
        compute(350);
    }
}

/* 66: each sends up to 5 messages to random ranks, which are told before how many come */
static void particles(void)
{
    state = 4000 + rank;
    for (int i = 0; i < 66; i++) {
        int gone[MOST_RANKS] = {0}, come[MOST_RANKS], count = 0;
        MPI_Request requests[MOST_RANKS * 8];
        for (int k = drawn(6); k; k--) gone[drawn(size)]++;
        compute(210);
        MPI_Alltoall(gone, 1, MPI_INT, come, 1, MPI_INT, MPI_COMM_WORLD);
        for (int one = 0; one < size; one++)
            for (int k = 0; k < come[one]; k++, count++)
                MPI_Irecv(there + 32 * count, 16, MPI_DOUBLE, one, 7, MPI_COMM_WORLD, &requests[count]);
        for (int one = 0; one < size; one++)
            for (int k = 0; k < gone[one]; k++, count++)
                MPI_Isend(here, 16, MPI_DOUBLE, one, 7, MPI_COMM_WORLD, &requests[count]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
}

/* 70: computes in pieces and tests between them, until all is there */
static void overlap(void)
{
    for (int i = 0; i < 70; i++) {
        MPI_Request requests[2];
        int done = 0;
        MPI_Irecv(there, 3000, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(here, 3000, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[1]);
        for (int k = 0; k < 10; k++) {
            compute(35);
            if (!done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        }
        if (!done) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        compute(60);
    }
}

/* 9 sizes of 80 exchanges there and back: 9 or 720 */
static void ping_pong(void)
{
    int other = rank ^ 1;
    for (int n = 1, s = 0; s < 9; s++, n *= 4) {
        for (int k = 0; k < 80; k++) {
            if (rank % 2) MPI_Recv(there, n, MPI_BYTE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(here, n, MPI_BYTE, other, 8, MPI_COMM_WORLD);
            if (rank % 2 == 0) MPI_Recv(there, n, MPI_BYTE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* none */
static void no_loop(void)
{
    state = 31;
    for (int i = 0; i < 24; i++) {
        int what = drawn(5);
        compute(40 + drawn(2500));
        if (what == 0) halo(1 + drawn(400));
        if (what == 1) sum_of(1 + drawn(60));
        if (what == 2) MPI_Bcast(here, 1 + drawn(60), MPI_DOUBLE, drawn(size), MPI_COMM_WORLD);
        if (what == 3) MPI_Barrier(MPI_COMM_WORLD);
        if (what == 4) swap(right, left, 1 + drawn(300));
    }
}

/* 56: each 8th writes a file */
static void writes_files(void)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 1; i <= 56; i++) {
        compute(300);
        halo(100);
        sum_of(1);
        if (i % 8 == 0) MPI_File_write(file, here, 500, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* 48: receives and sends are waited for apart */
static void split_waits(void)
{
    for (int i = 0; i < 48; i++) {
        MPI_Request in[2], out[2];
        MPI_Irecv(there, 500, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &in[0]);
        MPI_Irecv(there + 500, 500, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &in[1]);
        MPI_Isend(here, 500, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &out[0]);
        MPI_Isend(here, 500, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &out[1]);
        compute(250);
        for (int k = 0; k < 2; k++) {
            int which;
            MPI_Waitany(2, in, &which, MPI_STATUS_IGNORE);
            compute(60);
        }
        MPI_Waitall(2, out, MPI_STATUSES_IGNORE);
        compute(80);
    }
}

/* 34: one pass before the clock is read and all have met */
static void warm_up(void)
{
    for (int i = -1; i < 34; i++) {
        if (!i) {
            MPI_Barrier(MPI_COMM_WORLD);
            here[0] = MPI_Wtime();
        }
        compute(400);
        halo(128);
        compute(200);
        sum_of(3);
    }
    here[0] = MPI_Wtime() - here[0];
}

/* 46: one-sided */
static void fences(void)
{
    MPI_Win window;
    MPI_Win_create(there, sizeof there, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 46; i++) {
        compute(280);
        MPI_Put(here, 100, MPI_DOUBLE, right, 0, 100, MPI_DOUBLE, window);
        MPI_Put(here, 100, MPI_DOUBLE, left, 200, 100, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

/* 30: two models on a half of the ranks each; one makes 4 steps where the other one makes 2 */
static void coupled(void)
{
    MPI_Comm half;
    int mine = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    for (int i = 0; i < 30; i++) {
        for (int k = 0; k < (mine ? 4 : 2); k++) {
            compute(mine ? 150 : 300);
            MPI_Allreduce(here, there, mine ? 4 : 40, MPI_DOUBLE, MPI_SUM, half);
        }
        int other = (rank + size / 2) % size;
        swap(other, other, 100);
    }
    MPI_Comm_free(&half);
}

/* 1500: nothing but sums */
static void only_sums(void)
{
    for (int i = 0; i < 1500; i++) {
        compute(5);
        sum_of(1);
    }
}

/* 28, after a set-up of many calls */
static void long_set_up(void)
{
    for (int k = 0; k < 6; k++) {
        compute(3000);
        MPI_Bcast(here, 10 + 30 * k, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
        if (k % 2) MPI_Scatter(here, 5 + k, MPI_DOUBLE, there, 5 + k, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 28; i++) {
        compute(500);
        halo(64);
        compute(150);
        sum_of(1);
    }
}

/* 26: the inner loop is passed less and less often, 26 to 1 times */
static void triangular(void)
{
    for (int i = 0; i < 26; i++) {
        compute(60);
        MPI_Bcast(here, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int k = i; k < 26; k++) {
            compute(40);
            halo(16);
        }
    }
}

/* 60: each takes longer than the one before */
static void drift(void)
{
    for (int i = 0; i < 60; i++) {
        compute(150 + 8 * i);
        halo(64);
        sum_of(1);
    }
}

/* 7: in each 4 passes of 5 to 8 */
static void three_deep(void)
{
    state = 5;
    for (int i = 0; i < 7; i++) {
        MPI_Bcast(here, 20, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        compute(200);
        for (int j = 0; j < 4; j++) {
            for (int k = 5 + drawn(4); k; k--) {
                compute(60);
                halo(40);
            }
            compute(80);
            sum_of(1);
        }
        MPI_Reduce(here, there, 10, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* 18: the inner loop converges after 3 to 14 passes */
static void converges(void)
{
    state = 6;
    for (int i = 0; i < 18; i++) {
        compute(200);
        halo(200);
        for (int k = 3 + drawn(12); k; k--) {
            compute(50);
            halo(32);
            sum_of(1);
        }
        compute(150);
    }
}

/* 84 tasks that rank 0 hands out: 28 or so of each worker */
static void tasks(void)
{
    double task = 0;
    MPI_Status status;
    if (rank == 0) {
        int out = 0, done = 0, all = 84;
        for (int one = 1; one < size && out < all; one++, out++) MPI_Send(&task, 1, MPI_DOUBLE, one, 1, MPI_COMM_WORLD);
        while (done < all) {
            MPI_Recv(&task, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
            done++;
            if (out < all) {
                MPI_Send(&task, 1, MPI_DOUBLE, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
                out++;
            }
        }
        for (int one = 1; one < size; one++) MPI_Send(&task, 1, MPI_DOUBLE, one, 9, MPI_COMM_WORLD);
        return;
    }
    state = 40 + rank;
    while (1) {
        MPI_Recv(&task, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 9) return;
        compute(250 + drawn(300));
        MPI_Send(&task, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
}

/* 58: now one exchange and now another, then a sum */
static void places_in_turn(void)
{
    for (int i = 0; i < 58; i++) {
        compute(220);
        if (i % 2)
            swap(right, left, 150);
        else
            swap(left, right, 150);
        compute(60);
        sum_of(1);
    }
}

/* 12: in each 25 passes of a solver and a norm */
static void conjugate_gradients(void)
{
    for (int i = 0; i < 12; i++) {
        sum_of(1);
        for (int k = 0; k < 25; k++) {
            compute(50);
            halo(120);
            sum_of(1);
            compute(20);
            sum_of(1);
        }
        compute(40);
        halo(120);
        sum_of(1);
        sum_of(1);
    }
}

/* 50: partners are paired anew at random */
static void random_partners(void)
{
    state = 77;
    for (int i = 0; i < 50; i++) {
        int step = 1 + drawn(size - 1);
        compute(260);
        swap((rank + step) % size, (rank + size - step) % size, 100 + drawn(100));
        compute(90);
        sum_of(1);
    }
}

/* 13: in each 5 short steps without a sum, then a long one */
static void substeps(void)
{
    for (int i = 0; i < 13; i++) {
        compute(600);
        halo(300);
        for (int k = 0; k < 5; k++) {
            compute(90);
            halo(60);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"partners_in_turn", partners_in_turn},
    {"silent_stages", silent_stages},
    {"first_does_more", first_does_more},
    {"norm_and_output", norm_and_output},
    {"rejected_steps", rejected_steps},
    {"long_computation", long_computation},
    {"uniform", uniform},
    {"wavefronts", wavefronts},
    {"v_cycles", v_cycles},
    {"two_loops", two_loops},
    {"roots_in_turn", roots_in_turn},
    {"restarts", restarts},
    {"three", three},
    {"transforms", transforms},
    {"particles", particles},
    {"overlap", overlap},
    {"ping_pong", ping_pong},
    {"no_loop", no_loop},
    {"writes_files", writes_files},
    {"split_waits", split_waits},
    {"warm_up", warm_up},
    {"fences", fences},
    {"coupled", coupled},
    {"only_sums", only_sums},
    {"long_set_up", long_set_up},
    {"triangular", triangular},
    {"drift", drift},
    {"three_deep", three_deep},
    {"converges", converges},
    {"tasks", tasks},
    {"places_in_turn", places_in_turn},
    {"conjugate_gradients", conjugate_gradients},
    {"random_partners", random_partners},
    {"substeps", substeps},
};

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (size_t k = 0; count > 1 && k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(kinds[k].name, words[1])) kinds[k].run();
    MPI_Finalize();
    return 0;
}
