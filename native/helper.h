// Optional second thread. Chunks of work are claimed one by one, from the front by the caller and from the back by the
// helper, so that each thread accesses the same memory in every step. The caller waits only for a chunk in progress, so
// a late or descheduled helper costs almost nothing. A barrier could cost milliseconds on a busy machine.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace actuators {

class Helper {
  public:
    // The helper of this process, which is never destroyed.
    static Helper& instance() {
        static Helper* const only = new Helper;
        return *only;
    }

    // Call job(chunk, worker) once per chunk; worker is 0 for the caller, 1 for the helper.
    void run(int64_t chunks, const std::function<void(int64_t, int)>& job) {
        const std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
        if (!turn || chunks > kMost) {
            for (int64_t chunk = 0; chunk < chunks; ++chunk) job(chunk, 0);
            return;
        }
        const uint32_t round = round_.load() + 1;
        // blocks claims while the job changes
        ticket_.store(pack(round, kMost, kMost));
        job_ = &job;
        chunks_.store(chunks);
        done_.store(0);
        ticket_.store(pack(round, 0, 0));
        {
            const std::lock_guard<std::mutex> lock(sleep_);
            round_.store(round);
        }
        wake_.notify_one();
        work(round, 0);
        while (done_.load() < chunks) std::this_thread::yield();
    }

  private:
    static constexpr int64_t kMost = 0xffff;
    static constexpr int kSpins = 2000;

    Helper() {
        std::thread([this] { help(); }).detach();
    }

    static uint64_t pack(uint32_t round, uint64_t front, uint64_t back) {
        return static_cast<uint64_t>(round) << 32 | back << 16 | front;
    }

    void work(uint32_t round, int worker) {
        for (;;) {
            uint64_t ticket = ticket_.load();
            const int64_t front = ticket & 0xffff, back = ticket >> 16 & 0xffff, chunks = chunks_.load();
            if (static_cast<uint32_t>(ticket >> 32) != round || front + back >= chunks) return;
            if (!ticket_.compare_exchange_weak(ticket, ticket + (worker == 0 ? 1 : 1 << 16))) continue;
            (*job_)(worker == 0 ? front : chunks - 1 - back, worker);
            done_.fetch_add(1);
        }
    }

    [[noreturn]] void help() {
        uint32_t seen = 0;
        for (;;) {
            // spin before sleeping: the next step usually follows soon
            for (int spin = 0; spin < kSpins && round_.load() == seen; ++spin) std::this_thread::yield();
            if (round_.load() == seen) {
                std::unique_lock<std::mutex> lock(sleep_);
                wake_.wait(lock, [&] { return round_.load() != seen; });
            }
            seen = round_.load();
            work(seen, 1);
        }
    }

    std::mutex turn_, sleep_;
    std::condition_variable wake_;
    std::atomic<uint32_t> round_{0};
    std::atomic<uint64_t> ticket_{0};
    std::atomic<int64_t> chunks_{0}, done_{0};
    const std::function<void(int64_t, int)>* job_ = nullptr;
};

}  // namespace actuators
