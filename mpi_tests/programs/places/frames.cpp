// Frames of C++: templates, lambdas, exceptions, destructors, virtual functions, coroutines.

#define KEEPS_STACK
#include "hand_kept.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>
#if __has_include(<coroutine>) && __cplusplus > 201703
#include <coroutine>
#define COROUTINES
#endif

struct Level {
    Level() { ENTERED; }
    ~Level() { LEFT; }
};

template <int N> __attribute__((noinline)) void nested()
{
    Level level;
    SEND;
    if constexpr (N > 0) AT(nested<N - 1>());
    SEND;
}

template <typename F> static inline void apply(F f, int n)
{
    Level level;
    for (int i = 0; i < n; i++) AT(f(i));
    SEND;
}

static void lambdas()
{
    Level level;
    int sum = 0;
    auto inner = [&](int n) {
        Level level;
        sum += n;
        SEND;
    };
    AT(apply(inner, 3));
    std::function<void(int)> kept = [&](int n) {
        Level level;
        if (n > 0) AT(kept(n - 1));
        AT(inner(n));
    };
    AT(kept(3));
    std::vector<int> numbers{1, 2, 3};
    AT(std::for_each(numbers.begin(), numbers.end(), inner));
}

struct Noisy {
    ~Noisy()
    {
        stack.level[stack.depth].line = 0; // the line of a destructor's call is the compiler's to say
        Level level;
        SEND;
    }
};

__attribute__((noinline)) static void throws(int n)
{
    Level level;
    Noisy noisy;
    SEND;
    if (n == 0) throw std::runtime_error("thrown");
    volatile char room[100];
    room[n] = 1;
    AT(throws(n - 1));
    SEND;
}

__attribute__((noinline)) static void catches(int n)
{
    Level level;
    try {
        SEND;
        AT(throws(n));
    } catch (const std::exception &) {
        SEND;
    }
    SEND;
}

struct Shape {
    virtual void draw(int n) = 0;
    virtual ~Shape() = default;
};
struct Round : Shape {
    void draw(int n) override
    {
        Level level;
        if (n > 0) AT(draw(n - 1));
        SEND;
    }
};

#ifdef COROUTINES
struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static Task stepwise(int steps)
{
    for (int i = 0; i < steps; i++) {
        ENTERED;
        SEND;
        AT(catches(i));
        LEFT;
        co_await std::suspend_always{};
    }
}

__attribute__((noinline)) static void resume(std::coroutine_handle<> handle, int depth)
{
    Level level;
    if (depth > 0)
        AT(resume(handle, depth - 1));
    else
        AT(handle.resume());
    SEND;
}

static void coroutines()
{
    Level level;
    Task task = stepwise(4);
    for (int i = 0; !task.handle.done(); i++) AT(resume(task.handle, i % 3));
    task.handle.destroy();
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        AT(nested<5>());
        AT(lambdas());
        AT(catches(3));
        std::unique_ptr<Shape> shape(new Round);
        AT(shape->draw(4));
#ifdef COROUTINES
        AT(coroutines());
#endif
    }
    MPI_Finalize();
    return 0;
}
