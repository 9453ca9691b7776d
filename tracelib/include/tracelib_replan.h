/* The rule by which the shares of a running program change: times of ranks in, the next shares out. Needs no MPI.
 * tracelib_balance.h includes this file. tracelib/balance/replan.py is the same in Python. docs/balance.md has the
 * rule. A watch may be used by one thread at a time. */
#ifndef TRACELIB_REPLAN_H
#define TRACELIB_REPLAN_H

#include <string.h>

#include "tracelib_split.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TRACELIB_WINDOWS = 4, /* number of windows: 3, 6, 12 and 24 looks long */
    TRACELIB_FOLDS = 3,
    TRACELIB_LOOKS = TRACELIB_FOLDS << (TRACELIB_WINDOWS - 1) /* length of the longest window */
};

/* Margin of the mean gain above the threshold: SPREADS x the distance between the thirds of a window + NOISES x the
 * noise of a step / square root of looks. Found by simulation. In 100 looks at ranks that vary by up to 40 %, there is
 * one plan in ten runs or fewer. A rank that becomes 3 times as slow is found in 3 looks where ranks vary by up to 10
 * %, in 5 looks at 40 % (medians). */
#define TRACELIB_SPREADS 0.5
#define TRACELIB_NOISES 1.0

/* A rank with fewer items may need less time for each item: a rank with little to do has its CPU as long as it needs
 * it, with more it waits for others. LITTLE: size of a change of shares (logarithm of items, squared) of which half the
 * bend that it shows is believed. MOST_BENT: the largest bend. */
#define TRACELIB_LITTLE 0.1
#define TRACELIB_MOST_BENT 2.0

/* State of the rule. */
struct tracelib_watch {
    long long items;
    int ranks;
    double threshold;
    double *pace;    /* [TRACELIB_LOOKS][ranks], s per item: the latest looks since the last plan, as a ring */
    double *shares;  /* [ranks], shares of a candidate */
    long long *next; /* [ranks], whole items of a candidate */
    double *bend;    /* [ranks], pace ~ items ^ bend, learned from changes of shares */
    double *xy, *xx; /* [ranks], sums of logarithms: items x pace, items squared; a change halves the earlier sums */
    double *old_pace, *old_counts; /* [ranks], before the last change */
    int bent;                      /* 1: a bend is not 0 */
    double steps[TRACELIB_LOOKS];  /* number of steps of each look in `pace` */
    long long looks;               /* number of looks since the last plan */
    int caution;                   /* index of the shortest window that counts */
    double noise, last_s;        /* mean relative distance of a step from that of the look before; s of the last step */
    long long distances;         /* number of distances in `noise`, at most TRACELIB_LOOKS */
    double before_s, expected_s; /* s of a step without and with the last plan; 0: there was no plan */
    double waited_s;             /* s lost while a gain was seen that did not yet pay for moving */
    double move_s;               /* s that moving items costs */
    int moves;                   /* number of moves in `move_s` */
};

/* Start a watch of `ranks` ranks with `items` items. threshold: share of a step's time that new shares must save. The
 * caller frees its memory with tracelib_watch_end. Returns TRACELIB_PLANNED; TRACELIB_WRONG: no memory. */
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

/* Free the memory of a watch, also after a start that failed. */
static inline void tracelib_watch_end(struct tracelib_watch *w)
{
    free(w->pace);
    free(w->next);
    memset(w, 0, sizeof *w);
}

/* Note the cost of a move: seconds that a step took beyond a usual step. */
static inline void tracelib_watch_moved(struct tracelib_watch *w, double seconds)
{
    double now = seconds > 0 ? seconds : 0;
    w->move_s = w->moves++ ? (w->move_s + now) / 2 : now;
}

/* Return the paces [ranks], s per item, at the look that is k looks old; 0 is the latest. */
static inline const double *tracelib_pace(const struct tracelib_watch *w, int k)
{
    return w->pace + (size_t)((w->looks - 1 - k) % TRACELIB_LOOKS) * (size_t)w->ranks;
}

/* Return the mean without the lowest and the highest quarter. Sorts values[n]. */
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

/* Return the pace of a rank, s per item, from the looks of a window that are not in this fold; fold -1: from all. */
static inline double tracelib_window_pace(const struct tracelib_watch *w, int rank, int window, int fold)
{
    double values[TRACELIB_LOOKS];
    int n = 0;
    for (int k = 0; k < window; k++)
        if (fold < 0 || k % TRACELIB_FOLDS != fold) values[n++] = tracelib_pace(w, k)[rank];
    return tracelib_middle(values, n);
}

/* Set w->shares such that all ranks finish together: items x speed / sum of speeds. */
static inline void tracelib_straight_shares(struct tracelib_watch *w, int window, int fold)
{
    double sum = 0;
    for (int i = 0; i < w->ranks; i++) sum += w->shares[i] = 1 / tracelib_window_pace(w, i, window, fold);
    for (int i = 0; i < w->ranks; i++) w->shares[i] = (double)w->items * (w->shares[i] / sum);
}

/* Set w->shares such that all ranks finish together where paces depend on shares: items of rank i = items now x (time /
 * time now) ^ (1 / (1 + bend)). The time is found by Newton's method, in logarithms. */
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

/* Set w->shares such that all ranks finish together, by the looks of a window that are not in this fold. */
static inline void tracelib_window_shares(struct tracelib_watch *w, const long long *counts, int window, int fold)
{
    if (w->bent)
        tracelib_bent_shares(w, counts, window, fold);
    else
        tracelib_straight_shares(w, window, fold);
}

/* Replace each of w->shares by the number of items that take as long at the present pace. */
static inline void tracelib_bend_shares(struct tracelib_watch *w, const long long *counts)
{
    for (int i = 0; i < w->ranks && w->bent; i++) w->shares[i] *= pow(w->shares[i] / (double)counts[i], w->bend[i]);
}

/* Return when the last rank ends, in s: the largest share x pace. */
static inline double tracelib_last_of(const double *shares, const double *pace, int ranks)
{
    double most = 0;
    for (int i = 0; i < ranks; i++)
        if (shares[i] * pace[i] > most) most = shares[i] * pace[i];
    return most;
}

/* As tracelib_last_of, for whole items. */
static inline double tracelib_last_end(const long long *counts, const double *pace, int ranks)
{
    double most = 0;
    for (int i = 0; i < ranks; i++)
        if ((double)counts[i] * pace[i] > most) most = (double)counts[i] * pace[i];
    return most;
}

/* Return the share of time that the looks of one third (fold) would have saved with the shares that the other two
 * thirds give. */
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

/* Update w->noise, the mean relative distance of a step from that of the look before. The latest looks count most. */
static inline void tracelib_note_noise(struct tracelib_watch *w, double step_s)
{
    if (w->looks > 1) {
        double distance = 2 * fabs(step_s - w->last_s) / (step_s + w->last_s);
        if (w->distances < TRACELIB_LOOKS) w->distances++;
        w->noise += (distance - w->noise) / (double)w->distances;
    }
    w->last_s = step_s;
}

/* Return 1 if the thirds of a window agree that other shares save enough time. */
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

/* Compute the next shares, w->next, by a window. Returns the seconds that they would have saved in the window; 0 if
 * that is less than the threshold. Sets the mean s of a step without them (*before_s) and with them (*expected_s). */
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

/* Judge the last plan. If its steps took nearer to the time without the plan than to the expected time, the next plans
 * need a longer window. */
static inline void tracelib_judge(struct tracelib_watch *w, const long long *counts)
{
    double took[TRACELIB_LOOKS];
    int n = w->looks < TRACELIB_LOOKS ? (int)w->looks : TRACELIB_LOOKS;
    for (int k = 0; k < n; k++) took[k] = tracelib_last_end(counts, tracelib_pace(w, k), w->ranks);
    if (w->expected_s > 0 && tracelib_middle(took, n) > sqrt(w->before_s * w->expected_s)) w->caution++;
    if (w->caution >= TRACELIB_WINDOWS) w->caution = TRACELIB_WINDOWS - 1;
}

/* Learn how each rank's pace depends on its share, from the first looks after a change of shares. */
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

/* Make the next shares the present ones: counts[ranks] = w->next. */
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

/* Take the times of all ranks at one look, and decide on new shares.
 *
 * seconds[ranks]: s that each rank computed its counts[rank] items, in `steps` steps together. Returns 1 if counts has
 * new shares, else 0. A look at which a rank has no items or no time is ignored. */
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
