/* When the shares of a running program change: what its ranks measured in, the next shares out. No MPI is needed.
 * tracelib_balance.h includes it; tracelib/balance/replan.py is the same in Python, and docs/balance.md has the rule.
 */
#ifndef TRACELIB_REPLAN_H
#define TRACELIB_REPLAN_H

#include <string.h>

#include "tracelib_split.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TRACELIB_WINDOWS = 4, /* of 3, 6, 12 and 24 looks */
    TRACELIB_FOLDS = 3,
    TRACELIB_LOOKS = TRACELIB_FOLDS << (TRACELIB_WINDOWS - 1) /* the longest window */
};

/* What the mean gain must be above the threshold: parts of the distance between the thirds of a window, and of the
 * noise of a step / square root of looks. By simulation: of 100 looks at ranks that vary by up to 40 %, one plan in ten
 * runs or fewer; a rank that becomes 3 times as slow is found in 3 looks at up to 10 %, in 5 at 40 % (medians). */
#define TRACELIB_SPREADS 0.5
#define TRACELIB_NOISES 1.0

/* A rank with fewer items may be faster for each: with little to do it has its CPU as long as it needs it, with more it
 * waits for others. This is how far a change of shares must be (logarithm of items, squared) to say half of it. */
#define TRACELIB_LITTLE 0.1
#define TRACELIB_MOST_BENT 2.0

struct tracelib_watch {
    long long items;
    int ranks;
    double threshold;
    double *pace;    /* [TRACELIB_LOOKS][ranks], s an item: the latest looks since the last plan, in turn */
    double *shares;  /* [ranks], of a candidate */
    long long *next; /* [ranks], its items */
    double *bend;    /* [ranks], pace ~ items ^ bend, as changes of shares showed it */
    double *xy, *xx; /* [ranks], sums of logarithms: items times pace, items squared; of each change half of the last */
    double *old_pace, *old_counts; /* [ranks], before the last change */
    int bent;                      /* whether a bend is not 0 */
    double steps[TRACELIB_LOOKS];  /* of each look in pace */
    long long looks;               /* since the last plan */
    int caution;                   /* no window shorter than this one counts */
    double noise, last_s;          /* mean relative distance of a step from that of the look before; the last step */
    long long distances;           /* how many noise is of */
    double before_s, expected_s;   /* a step, without and with the last plan; 0: there was none */
    double waited_s;               /* lost while the gain was seen, but did not yet pay for moving */
    double move_s;                 /* what moving costs */
    int moves;                     /* how often that was seen */
};

/* TRACELIB_WRONG: no memory. */
static inline int tracelib_watch_start(struct tracelib_watch *w, long long items, int ranks, double threshold)
{
    memset(w, 0, sizeof *w);
    w->items = items;
    w->ranks = ranks;
    w->threshold = threshold;
    w->pace = (double *)calloc((size_t)ranks * (TRACELIB_LOOKS + 6), sizeof *w->pace);
    w->next = (long long *)calloc((size_t)ranks, sizeof *w->next);
    if (!w->pace || !w->next) return TRACELIB_WRONG;
    w->shares = w->pace + (size_t)ranks * TRACELIB_LOOKS;
    w->bend = w->shares + ranks;
    w->xy = w->bend + ranks;
    w->xx = w->xy + ranks;
    w->old_pace = w->xx + ranks;
    w->old_counts = w->old_pace + ranks;
    return TRACELIB_PLANNED;
}

static inline void tracelib_watch_end(struct tracelib_watch *w)
{
    free(w->pace);
    free(w->next);
    memset(w, 0, sizeof *w);
}

/* What a move took, beyond what a step takes anyway. */
static inline void tracelib_watch_moved(struct tracelib_watch *w, double seconds)
{
    double now = seconds > 0 ? seconds : 0;
    w->move_s = w->moves++ ? (w->move_s + now) / 2 : now;
}

/* The paces at the look that is k looks old; 0 is the latest. */
static inline const double *tracelib_pace(const struct tracelib_watch *w, int k)
{
    return w->pace + (size_t)((w->looks - 1 - k) % TRACELIB_LOOKS) * (size_t)w->ranks;
}

/* The mean without the lowest and the highest quarter. Sorts. */
static inline double tracelib_middle(double *values, int n)
{
    double sum = 0;
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double swap = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swap;
        }
    for (int i = n / 4; i < n - n / 4; i++) sum += values[i];
    return sum / (n - 2 * (n / 4));
}

/* The pace of a rank by the looks of a window that are not in this fold; fold -1: by all of them. */
static inline double tracelib_window_pace(const struct tracelib_watch *w, int rank, int window, int fold)
{
    double values[TRACELIB_LOOKS];
    int n = 0;
    for (int k = 0; k < window; k++)
        if (fold < 0 || k % TRACELIB_FOLDS != fold) values[n++] = tracelib_pace(w, k)[rank];
    return tracelib_middle(values, n);
}

/* Shares with which all ranks finish together: items x speed / sum of speeds. */
static inline void tracelib_straight_shares(struct tracelib_watch *w, int window, int fold)
{
    double sum = 0;
    for (int i = 0; i < w->ranks; i++) sum += w->shares[i] = 1 / tracelib_window_pace(w, i, window, fold);
    for (int i = 0; i < w->ranks; i++) w->shares[i] = (double)w->items * (w->shares[i] / sum);
}

/* The same where paces depend on shares: items of i = now x (time / time now) ^ (1 / (1 + bend)); the time by Newton's
 * method, in logarithms. */
static inline void tracelib_bent_shares(struct tracelib_watch *w, const long long *counts, int window, int fold)
{
    double at = 0, change = 1;
    for (int i = 0; i < w->ranks; i++) {
        w->shares[i] = log((double)counts[i] * tracelib_window_pace(w, i, window, fold));
        if (i == 0 || w->shares[i] > at) at = w->shares[i];
    }
    for (int k = 0; k < 50 && fabs(change) > 1e-12; k++) {
        double sum = 0, slope = 0;
        for (int i = 0; i < w->ranks; i++) {
            double share = (double)counts[i] * exp((at - w->shares[i]) / (1 + w->bend[i]));
            sum += share;
            slope += share / (1 + w->bend[i]);
        }
        change = log(sum / (double)w->items) * sum / slope;
        at -= change;
    }
    for (int i = 0; i < w->ranks; i++) w->shares[i] = (double)counts[i] * exp((at - w->shares[i]) / (1 + w->bend[i]));
}

static inline void tracelib_window_shares(struct tracelib_watch *w, const long long *counts, int window, int fold)
{
    if (w->bent)
        tracelib_bent_shares(w, counts, window, fold);
    else
        tracelib_straight_shares(w, window, fold);
}

/* For w->shares: how many items at the pace of now take as long as a rank's share would. */
static inline void tracelib_bend_shares(struct tracelib_watch *w, const long long *counts)
{
    for (int i = 0; i < w->ranks && w->bent; i++) w->shares[i] *= pow(w->shares[i] / (double)counts[i], w->bend[i]);
}

/* When the last rank is done. */
static inline double tracelib_last_of(const double *shares, const double *pace, int ranks)
{
    double most = 0;
    for (int i = 0; i < ranks; i++)
        if (shares[i] * pace[i] > most) most = shares[i] * pace[i];
    return most;
}

static inline double tracelib_last_end(const long long *counts, const double *pace, int ranks)
{
    double most = 0;
    for (int i = 0; i < ranks; i++)
        if ((double)counts[i] * pace[i] > most) most = (double)counts[i] * pace[i];
    return most;
}

/* The part of the time that a third of the looks would have saved with the shares that the others ask for. */
static inline double tracelib_fold_gain(struct tracelib_watch *w, const long long *counts, int window, int fold)
{
    double now = 0, then = 0;
    tracelib_window_shares(w, counts, window, fold);
    tracelib_bend_shares(w, counts);
    for (int k = fold; k < window; k += TRACELIB_FOLDS) {
        now += tracelib_last_end(counts, tracelib_pace(w, k), w->ranks);
        then += tracelib_last_of(w->shares, tracelib_pace(w, k), w->ranks);
    }
    return 1 - then / now;
}

/* How much a step takes more or less than at the look before, on average; the latest looks count most. */
static inline void tracelib_note_noise(struct tracelib_watch *w, double step_s)
{
    if (w->looks > 1) {
        double distance = 2 * fabs(step_s - w->last_s) / (step_s + w->last_s);
        if (w->distances < TRACELIB_LOOKS) w->distances++;
        w->noise += (distance - w->noise) / (double)w->distances;
    }
    w->last_s = step_s;
}

/* Whether a window's thirds agree that other shares gain enough. */
static inline int tracelib_window_agrees(struct tracelib_watch *w, const long long *counts, int window)
{
    double sum = 0, low = 0, high = 0;
    for (int fold = 0; fold < TRACELIB_FOLDS; fold++) {
        double gain = tracelib_fold_gain(w, counts, window, fold);
        sum += gain;
        if (fold == 0 || gain < low) low = gain;
        if (fold == 0 || gain > high) high = gain;
    }
    return sum / TRACELIB_FOLDS - TRACELIB_SPREADS * (high - low) >
           w->threshold + TRACELIB_NOISES * w->noise / sqrt((double)window);
}

/* Seconds that the next shares would have saved in a window; 0: not enough of them. Before and expected are of a step.
 */
static inline double tracelib_window_saves(struct tracelib_watch *w, const long long *counts, int window,
                                           double *before_s, double *expected_s)
{
    double now = 0, then = 0, steps = 0;
    tracelib_window_shares(w, counts, window, -1);
    if (tracelib_split(w->items, w->shares, w->ranks, w->next)) return 0;
    tracelib_one_each(w->next, w->ranks);
    for (int i = 0; i < w->ranks; i++) w->shares[i] = (double)w->next[i];
    tracelib_bend_shares(w, counts);
    for (int k = 0; k < window; k++) {
        double n = w->steps[(w->looks - 1 - k) % TRACELIB_LOOKS];
        now += n * tracelib_last_end(counts, tracelib_pace(w, k), w->ranks);
        then += n * tracelib_last_of(w->shares, tracelib_pace(w, k), w->ranks);
        steps += n;
    }
    *before_s = now / steps;
    *expected_s = then / steps;
    return then < now * (1 - w->threshold) ? now - then : 0;
}

/* A plan under which steps took nearer to what they had taken without it makes the next ones wait for more looks. */
static inline void tracelib_judge(struct tracelib_watch *w, const long long *counts)
{
    double took[TRACELIB_LOOKS];
    int n = w->looks < TRACELIB_LOOKS ? (int)w->looks : TRACELIB_LOOKS;
    for (int k = 0; k < n; k++) took[k] = tracelib_last_end(counts, tracelib_pace(w, k), w->ranks);
    if (w->expected_s > 0 && tracelib_middle(took, n) > sqrt(w->before_s * w->expected_s)) w->caution++;
    if (w->caution >= TRACELIB_WINDOWS) w->caution = TRACELIB_WINDOWS - 1;
}

/* What the first looks after a change of shares say of how a rank's pace depends on its share. */
static inline void tracelib_learn_bends(struct tracelib_watch *w, const long long *counts)
{
    w->bent = 0;
    for (int i = 0; i < w->ranks; i++) {
        double x = log((double)counts[i] / w->old_counts[i]);
        double y = log(tracelib_window_pace(w, i, TRACELIB_FOLDS, -1) / w->old_pace[i]);
        w->xy[i] = w->xy[i] / 2 + x * y;
        w->xx[i] = w->xx[i] / 2 + x * x;
        w->bend[i] = fmin(fmax(w->xy[i] / (w->xx[i] + TRACELIB_LITTLE), 0), TRACELIB_MOST_BENT);
        if (w->bend[i] > 0) w->bent = 1;
    }
}

/* The next shares are those of now. */
static inline void tracelib_take_shares(struct tracelib_watch *w, long long *counts, int window)
{
    for (int i = 0; i < w->ranks; i++) {
        w->old_counts[i] = (double)counts[i];
        w->old_pace[i] = tracelib_window_pace(w, i, window, -1);
        counts[i] = w->next[i];
    }
    w->looks = 0;
    w->waited_s = 0;
}

/* What all ranks measured: seconds that each computed its counts[rank] items, in so many steps. 1: counts has new
 * shares. */
static inline int tracelib_watch_look(struct tracelib_watch *w, long long *counts, const double *seconds, double steps)
{
    double *pace = w->pace + (size_t)(w->looks % TRACELIB_LOOKS) * (size_t)w->ranks;
    double before_s = 0, expected_s = 0, saved = 0;
    int window = 0;
    for (int i = 0; i < w->ranks; i++) {
        if (!(counts[i] > 0 && seconds[i] > 0)) return 0;
        pace[i] = seconds[i] / ((double)counts[i] * steps);
    }
    w->steps[w->looks % TRACELIB_LOOKS] = steps;
    w->looks++;
    tracelib_note_noise(w, tracelib_last_end(counts, pace, w->ranks));
    if (w->looks == TRACELIB_FOLDS && w->expected_s > 0) tracelib_learn_bends(w, counts);
    if (w->looks % (TRACELIB_LOOKS << w->caution) == 0 && w->caution > 0) w->caution--;
    for (int i = w->caution; i < TRACELIB_WINDOWS && saved <= 0; i++) {
        window = TRACELIB_FOLDS << i;
        if (w->looks >= window && w->looks % (1 << i) == 0 && tracelib_window_agrees(w, counts, window))
            saved = tracelib_window_saves(w, counts, window, &before_s, &expected_s);
    }
    if (saved <= 0) {
        w->waited_s = 0;
        return 0;
    }
    if (saved + w->waited_s < w->move_s) {
        w->waited_s += steps * (before_s - expected_s);
        return 0;
    }
    tracelib_judge(w, counts);
    tracelib_take_shares(w, counts, window);
    w->before_s = before_s;
    w->expected_s = expected_s;
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
