#ifndef SITE_H
#define SITE_H
/* Properties of nodes, in the form that operations need. */

#include <stdbool.h>
#include <stdint.h>

#include "state/sim.h"

/* Resources of a node. Half duplex: both links are OUT. */
enum resource_kind { OUT, IN, INTRA_OUT, INTRA_IN, INTRA_BUS, PER_NODE };

/* Properties of a node that operations need, in one place. */
struct site {
    int64_t latency, intra_latency, wan_latency; /* ns; -1: drawn at each use */
    double speed;                                /* 0: drawn at each use */
    int32_t network;
    int32_t resources; /* the first of those that are limited */
    uint8_t limited;   /* bit k: there are not as many as wanted of enum resource_kind k */
    bool half_duplex;
    bool dedicated; /* each thread that lives there has its own processor */
};

/* Make the sites of all nodes of the machine. Returns false if there is no memory. */
bool sites_init(struct sim *sim);

#endif
