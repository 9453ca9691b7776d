// As whereabouts.c: members, templates, lambdas, what others inline.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

extern "C" char __executable_start;

__attribute__((noinline)) void note(int line, const char *function)
{
    auto offset = static_cast<char *>(__builtin_return_address(0)) - &__executable_start;
    printf("%lx %d %s\n", static_cast<unsigned long>(offset), line, function);
    fflush(stdout);
}

#define NOTE note(__LINE__, __func__)

namespace phys {
template <typename T, int D>
struct Field {
    std::vector<T> data;
    explicit Field(int n) : data(n) { NOTE; }
    ~Field() { NOTE; }
    T operator()(int i) const
    {
        NOTE;
        return data[i];
    }
    template <typename F>
    void each(F f)
    {
        for (auto &x : data) f(x);
        NOTE;
    }
    static T norm(T x)
    {
        NOTE;
        return x * x;
    }
};

struct Solver {
    virtual void step(int n)
    {
        NOTE;
        if (n > 1) step(n - 1);
    }
    virtual ~Solver() {}
};
}

int main()
{
    phys::Field<double, 3> field(2);
    field.each([](double &x) {
        NOTE;
        x = 1;
    });
    int sum = 0;
    std::function<int(int)> later = [&](int y) {
        NOTE;
        return y + sum;
    };
    sum += later(1);
    std::vector<int> values{3, 1, 2};
    std::sort(values.begin(), values.end(), [](int a, int b) {
        NOTE;
        return a < b;
    });
    phys::Solver solver;
    phys::Solver *base = &solver;
    base->step(2);
    sum += static_cast<int>(phys::Field<double, 3>::norm(field(0)));
    try {
        NOTE;
        throw 1;
    } catch (int error) {
        NOTE;
        sum += error;
    }
    return sum == 77;
}
