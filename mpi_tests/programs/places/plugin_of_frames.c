// A library of which two kinds are made, which are as long as each other.

#include "hand_kept.h"

#ifdef OTHER
__attribute__((noinline)) static void step(void (*call_back)(int), int n)
{
    ENTERED;
    AT(call_back(n));
    SEND;
    LEFT;
}
#endif

void work(void (*call_back)(int), int n)
{
    ENTERED;
#ifdef OTHER
    AT(step(call_back, n));
#else
    SEND;
#endif
    AT(call_back(n));
    LEFT;
}
