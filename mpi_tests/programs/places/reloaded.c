/* A library that computes (reloads.c). */
#include "for_a_while.h"

void compute_away(void);

void compute_away(void)
{
    for_a_while(0.04);
}
