// Jobs of many sizes by the caller and the helper: what came of them is
// printed, a line for each fault.
#include "helper.h"

#include <chrono>
#include <cstdio>

using namespace actuators;

namespace {

int faults = 0;

void refuse(int64_t chunks, const char* why) {
    std::printf("%lld chunks: %s\n", static_cast<long long>(chunks), why);
    ++faults;
}

// Every chunk once; returns those of the helper.
int64_t run(int64_t chunks, std::chrono::microseconds each) {
    std::vector<std::atomic<int>> done(chunks + 1);
    std::atomic<int64_t> helped{0};
    const auto caller = std::this_thread::get_id();
    Helper::instance().run(chunks, [&](int64_t chunk, int worker) {
        if (chunk < 0 || chunk >= chunks) return refuse(chunks, "one that is not there");
        if ((std::this_thread::get_id() == caller) != (worker == 0)) refuse(chunks, "another thread than told");
        ++done[chunk];
        helped += worker;
        if (each.count()) std::this_thread::sleep_for(each);
    });
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
        if (done[chunk] != 1) refuse(chunks, "one not done once");
    return helped;
}

}  // namespace

int main() {
    using namespace std::chrono_literals;
    for (int round = 0; round < 2000; ++round)
        for (const int64_t chunks : {0, 1, 2, 3, 8, 100}) run(chunks, 0us);
    // as many as there is room for, and more, which the caller does alone
    for (const int64_t chunks : {0xfffe, 0xffff}) run(chunks, 0us);
    if (run(0x10000, 0us) != 0) refuse(0x10000, "helped with");
    // whatever else the machine does, in the time of a chunk the other thread
    // gets its turn, asleep or not
    for (const auto pause : {0ms, 50ms}) {
        std::this_thread::sleep_for(pause);
        int64_t helped = 0;
        for (int round = 0; round < 200 && helped == 0; ++round) helped = run(8, 1000us);
        if (helped == 0) refuse(8, "never helped with");
    }
    // who comes while it is taken is not kept waiting
    std::atomic<bool> is_there{false}, is_over{false};
    std::thread other([&] {
        while (!is_there) std::this_thread::yield();
        if (run(4, 0us) != 0) refuse(4, "helped two at once");
        is_over = true;
    });
    Helper::instance().run(1, [&](int64_t, int) {
        is_there = true;
        while (!is_over) std::this_thread::yield();
    });
    other.join();
    std::printf("%d faults\n", faults);
    return faults != 0;
}
