// The same program with exceptions.
#include "left_calls.c"
