#ifndef SETUP_H
#define SETUP_H
/* Set-up and release of a simulation. */

#include "state/sim.h"

/* Set up a simulation of the programs, which the caller keeps; returns false if there is no memory. Free it, also then.
 */
bool sim_init(struct sim *sim, const struct program *programs);
void sim_free(struct sim *sim);

/* Start an application, for the first time or once more. */
void app_start(struct sim *sim, struct app *app);

#endif
