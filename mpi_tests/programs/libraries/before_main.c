/* Calls MPI_Initialized where no part of a program runs as a rule: before main, and where the flag HOW says. The part
 * of a library (-DLIBRARY) and the program that uses it; the last line on stdout is how often it was called. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int calls __attribute__((weak));
static void ask(void)
{
    int flag = 1;
    MPI_Initialized(&flag);
    if (flag) abort();
    calls++;
}

static void *ask_twice(void *unused)
{
    ask();
    ask();
    return unused;
}

/* A constructor that waits for its thread: inside dlopen it waits with the dynamic linker's lock held. */
static void ask_in_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, ask_twice, NULL)) abort();
    pthread_join(thread, NULL);
}

#if defined(CONSTRUCTOR)
__attribute__((constructor)) static void construct(void)
{
    ask_twice(NULL);
}
#elif defined(THREAD)
__attribute__((constructor)) static void construct(void)
{
    ask_in_thread();
}
#elif defined(PREINIT)
static void before_constructors(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    ask();
}
__attribute__((section(".preinit_array"), used)) static void (*entry)(int, char **, char **) = before_constructors;
#elif defined(RESOLVER)
static int one(void)
{
    return 1;
}
static int (*resolve(void))(void)
{
    ask();
    return one;
}
static int chosen(void) __attribute__((ifunc("resolve")));
int (*const pointer)(void) = chosen; /* to be filled in before anything runs */
#endif

#ifdef LIBRARY
void used(void)
{
    (void)ask_in_thread;
}
#else
#include <dlfcn.h>
void used(void) __attribute__((weak));

int main(int argc, char **argv)
{
    if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) return 2;
    if (used) used();
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("%d\n", calls);
    return 0;
}
#endif
