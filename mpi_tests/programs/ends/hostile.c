// Acts by which programs harm a tracer without meaning to. The first argument names the act; each ends by itself with
// exit code 0 and prints what the MPI answered, so that a traced run can be compared with an untraced one.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

// Hundred thousands of operations that are complete at once: an MPI may give all of them one handle.
static void many_requests(void)
{
    enum { MANY = 100000 };
    MPI_Request *requests = malloc(MANY * sizeof *requests);
    char byte = 0;
    for (int i = 0; i < MANY; i++) MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

// Enough calls to fill a tracer's buffer a few times.
static void many_sends(void)
{
    int value = 0;
    for (int i = 0; i < 30000; i++) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

// As daemons do: all files are closed, and the program's own take their numbers.
static void close_all_files(void)
{
    char content[16] = "";
    int own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0644);
    many_sends();
    for (int fd = 3; fd < 1024; fd++) {
        struct stat file;
        if (fd != own && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) dup2(own, fd);
    }
    many_sends();
    printf("%d bytes in the program's own file\n", (int)pread(own, content, sizeof content, 0));
}

// A child made past the library's fork() runs no handler that pthread_atfork has registered.
static void fork_without_handlers(void)
{
    fflush(NULL);
    pid_t child = _Fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
    many_sends();
}

static void leave(int number)
{
    (void)number;
    exit(0);
}

// Not allowed by POSIX, and common: exit while anything may be half done.
static void exit_in_handler(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGALRM, leave);
    ualarm(100000 + 7919 * (unsigned)rank, 0);
    for (;;) many_sends();
}

static void small_file_limit(void)
{
    struct rlimit limit = {1000000, 1000000};
    setrlimit(RLIMIT_FSIZE, &limit);
    many_sends();
}

static void *all_of_mpi(void *unused)
{
    (void)unused;
    MPI_Init(NULL, NULL);
    many_sends();
    MPI_Finalize();
    return NULL;
}

// MPI lives and ends in a thread whose memory is gone when the process ends.
static void thread_that_ends(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20); // too large to be kept for the next thread
    pthread_create(&thread, &attributes, all_of_mpi, NULL);
    pthread_join(thread, NULL);
}

// Close the streams: the files opened next get their numbers.
static void closed_streams(void)
{
    for (int fd = 0; fd < 3; fd++) close(fd);
    MPI_Init(NULL, NULL);
    printf("into nothing\n");
    fflush(stdout);
    many_sends();
    MPI_Finalize();
}

// Members may complete the same two copies in different orders.
static void copies_in_any_order(void)
{
    MPI_Comm copies[2];
    MPI_Request requests[2];
    int value = 0, mate = rank ^ 1;
    for (int i = 0; i < 2; i++) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    for (int i = 0; i < 2; i++) MPI_Wait(&requests[rank % 2 ? 1 - i : i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv_replace(&value, 1, MPI_INT, mate, i, mate, i, copies[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&copies[i]);
}

static void report(const char *call, int error)
{
    int class;
    MPI_Error_class(error, &class);
    printf("rank %d: %s gives class %d\n", rank, call, class);
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    return 7777;
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 1);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *extra, int complete)
{
    return MPI_SUCCESS;
}

// Callbacks may fail with any number; a request of the program's own may be cancelled.
static void failing_callbacks(void)
{
    MPI_Comm base, copy;
    MPI_Request request;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(base, key, &key);
    printf("refused %d\n", MPI_Comm_dup(base, &copy) != MPI_SUCCESS);
    MPI_Comm_delete_attr(base, key);
    MPI_Grequest_start(query, nothing, nothing_to_cancel, NULL, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// MPICH refuses NULL as a status, and the receive goes on; Open MPI takes it for MPI_STATUS_IGNORE.
static void status_is_null(void)
{
    int sent = 1, received = 0;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    report("Wait", MPI_Wait(&request, NULL));
    report("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    printf("received %d\n", received);
}

// Results of a refused call are whatever they were before.
static void refused_calls(void)
{
    int value = 0, index = 1 << 30, flag = 1, count = 1 << 30, indices[4] = {1 << 30, -5, 1 << 30, -5};
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    report("Isend", MPI_Isend(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, requests));
    report("Isend", MPI_Isend(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, NULL));
    report("Bcast", MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    report("Wait", MPI_Wait(NULL, statuses));
    report("Waitany", MPI_Waitany(-1, requests, &index, statuses));
    report("Testany", MPI_Testany(-1, requests, &index, &flag, statuses));
    report("Waitsome", MPI_Waitsome(-1, requests, &count, indices, statuses));
    report("Testsome", MPI_Testsome(-1, requests, &count, indices, MPI_STATUSES_IGNORE));
    report("Waitall", MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
    MPI_Comm none = MPI_COMM_NULL;
    report("Comm_free", MPI_Comm_free(&none));
    status_is_null();
    failing_callbacks();
}

static jmp_buf back;

static void jump_back(MPI_Comm *comm, int *error, ...)
{
    longjmp(back, 1);
}

// A handler that throws leaves the MPI call, and the wrapper around it, without returning.
static void error_handler_that_jumps(void)
{
    MPI_Errhandler handler;
    int value = 0;
    MPI_Comm_create_errhandler(jump_back, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(back) == 0) MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    many_sends();
}

// The child lives on after all ranks have ended, and then ends by exit.
static void child_that_stays(void)
{
    many_sends();
    fflush(NULL);
    if (fork() == 0) {
        for (int fd = 0; fd < 3; fd++) close(fd); // the launcher waits for the end of these
        usleep(300000);
        exit(0);
    }
}

// A child that makes no call to MPI and leaves without any handler.
static void child_that_leaves_at_once(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    many_sends();
}

static void exec_at_the_end(void)
{
    MPI_Init(NULL, NULL);
    many_sends();
    MPI_Finalize();
    fflush(NULL);
    execlp("echo", "echo", "another program", NULL);
}

static void *send_for_ever(void *unused)
{
    (void)unused;
    for (;;) many_sends();
}

static void exit_while_others_call(void)
{
    int level;
    pthread_t threads[3];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, send_for_ever, NULL);
    many_sends();
    MPI_Barrier(MPI_COMM_WORLD);
    exit(0);
}

static sigjmp_buf before_fault;
static volatile int on_own_stack, told_to_end;
static char own_stack[65536];

static void fault(int number)
{
    char here;
    on_own_stack = &here >= own_stack && &here < own_stack + sizeof own_stack;
    siglongjmp(before_fault, number);
}

static void told(int number)
{
    told_to_end = number;
}

// Handlers of the program's own, on a stack of its own, one of them for one time only.
static void own_signal_handlers(void)
{
    stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack}, kept;
    struct sigaction faulting = {.sa_handler = fault, .sa_flags = SA_ONSTACK | SA_RESETHAND},
                     ending = {.sa_handler = told};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &faulting, NULL);
    sigaction(SIGTERM, &ending, NULL);
    many_sends();
    if (sigsetjmp(before_fault, 1) == 0) *(volatile int *)NULL = 0;
    raise(SIGTERM);
    many_sends();
    sigaltstack(NULL, &kept);
    sigaction(SIGSEGV, NULL, &faulting);
    sigaction(SIGTERM, NULL, &ending);
    printf("on its own stack %d, told %d, reset %d, kept %d, same stack %d\n", on_own_stack, told_to_end,
           faulting.sa_handler == SIG_DFL, ending.sa_handler == told, kept.ss_sp == (void *)own_stack);
}

// A library that calls MPI comes and goes.
static void plugins(void)
{
    for (int i = 0; i < 3; i++) {
        void *plugin = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
        void (*send_some)(int) = (void (*)(int))dlsym(plugin, "send_some");
        send_some(10000);
        printf("closed %d\n", dlclose(plugin));
    }
}

static const struct {
    const char *name;
    void (*act)(void);
    int alone; // calls MPI_Init and MPI_Finalize itself
} acts[] = {
    {"many-requests", many_requests, 0},
    {"close-all-files", close_all_files, 0},
    {"fork-without-handlers", fork_without_handlers, 0},
    {"exit-in-handler", exit_in_handler, 0},
    {"small-file-limit", small_file_limit, 0},
    {"copies-in-any-order", copies_in_any_order, 0},
    {"refused-calls", refused_calls, 0},
    {"error-handler-that-jumps", error_handler_that_jumps, 0},
    {"child-that-stays", child_that_stays, 0},
    {"child-that-leaves-at-once", child_that_leaves_at_once, 0},
    {"own-signal-handlers", own_signal_handlers, 0},
    {"plugins", plugins, 0},
    {"exec-at-the-end", exec_at_the_end, 1},
    {"exit-while-others-call", exit_while_others_call, 1},
    {"thread-that-ends", thread_that_ends, 1},
    {"closed-streams", closed_streams, 1},
};

int main(int argc, char **argv)
{
    size_t i = 0;
    while (strcmp(acts[i].name, argv[1]) != 0) i++;
    if (acts[i].alone) {
        acts[i].act();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    acts[i].act();
    MPI_Finalize();
    return 0;
}
