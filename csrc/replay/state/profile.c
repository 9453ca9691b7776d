/* How many threads do what over time, in bins of one width. What is kept are changes: an interval costs two of them,
   however many bins it spans. */
#include "state/profile.h"

/* From a time on, n more than before. */
static void change_bins(const struct sim *sim, struct bin *bins, int64_t time, int64_t n)
{
    int64_t width = sim->output.bin_ns, k = time / width;
    if (k >= sim->output.n_bins) return;
    bins[k].change += n;
    bins[k].area += n * ((k + 1) * width - time);
}

void profile_add(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n)
{
    struct bin *bins = sim->output.profile + what * (int64_t)sim->output.n_bins;
    change_bins(sim, bins, from, n);
    change_bins(sim, bins, to, -n);
}
