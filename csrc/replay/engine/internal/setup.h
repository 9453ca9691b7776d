#ifndef SETUP_H
#define SETUP_H
/* What a simulation begins with, and what it leaves. */

#include "state/sim.h"

/* false: no memory. */
bool sim_init(struct sim *sim, const struct program *programs);
void sim_free(struct sim *sim);

/* An application runs, perhaps once more. */
void app_start(struct sim *sim, struct app *app);

#endif
