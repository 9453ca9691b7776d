/* The code in memory, as it is known. */
#ifndef CODE_H
#define CODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Modules, rules and rows are shared by all threads. The lock may be taken between store_begin and store_end, not the
 * other way round. */
extern pthread_mutex_t places_lock;

/* The code that is in memory now. Under the lock. */
uint32_t places_generation_now(void);

/* Learn what code is in memory now: libraries have been loaded or unloaded. Takes the lock, with all signals blocked.
 * The caller may hold the dynamic linker's lock: nobody waits for that with ours. */
void places_look_around(void);

/* Has none been unloaded since that was asked, and is none being unloaded? Under the lock, as long as which the answer
 * holds. */
bool places_code_is_known(void);

#endif
