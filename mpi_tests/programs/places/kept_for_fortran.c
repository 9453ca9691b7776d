// The hand-kept stack of a Fortran program.

#define KEEPS_STACK
#include "hand_kept.h"

void fortran_here(int line)
{
    stack.level[stack.depth].file = "frames.F90";
    stack.level[stack.depth].line = line;
}
void fortran_entered(void)
{
    ENTERED;
}
void fortran_left(void)
{
    LEFT;
}
