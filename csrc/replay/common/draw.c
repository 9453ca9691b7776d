/* A draw is a hash of (seed, parameter, thread, its run and operation, how many draws that operation had), so that it
   depends on nothing that the order of simulation could change; docs/machine.md says all of it. */
#include "common/draw.h"

#include <math.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Uniform in (0, 1). */
static double draw(uint64_t seed, struct draws *draws, int32_t id)
{
    uint64_t x = mix(seed + 0x9e3779b97f4a7c15u);
    x = mix(x ^ (uint64_t)(uint32_t)id);
    x = mix(x ^ draws->who);
    x = mix(x ^ draws->op);
    x = mix(x ^ draws->n++);
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

/* Values that make no sense (a latency below 0) become 0, and a bandwidth or a speed never becomes 0 by chance. */
double draw_value(const struct quantity *q, uint64_t seed, struct draws *draws, bool positive)
{
    double least = positive ? 1e-12 : 0.0, v = q->a;
    if (q->law == LAW_CONSTANT) return v;
    if (q->law == LAW_UNIFORM) {
        v = q->a + (q->b - q->a) * draw(seed, draws, q->id);
    } else if (q->law == LAW_GAUSSIAN) {
        double u = draw(seed, draws, q->id), w = draw(seed, draws, q->id);
        v = q->a + q->b * sqrt(-2.0 * log(u)) * cos(6.283185307179586 * w);
    } else if (q->law == LAW_EXPONENTIAL) {
        v = q->a - q->b * log(draw(seed, draws, q->id));
    }
    return v > least ? v : least;
}

double replay_value(const struct quantity *quantity, uint64_t seed)
{
    struct draws draws = {0, 0, 0};
    return draw_value(quantity, seed, &draws, false);
}
