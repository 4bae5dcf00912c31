// Zero-initialized memory aligned to cache lines; large allocations use huge pages.
#pragma once
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace actuators {

constexpr size_t kHugePage = size_t{1} << 21;

template <class T>
class Aligned {
  public:
    Aligned() = default;
    explicit Aligned(size_t size, T value = T{}) : size_(size) {
        const size_t bytes = (size * sizeof(T) + 63) / 64 * 64;
        const std::align_val_t alignment{bytes >= kHugePage ? kHugePage : 64};
        data_ = {static_cast<T*>(::operator new(bytes ? bytes : 64, alignment)), Free{alignment}};
#ifdef __linux__
        // rows far apart exceed the TLB with small pages
        if (bytes >= kHugePage) madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
        std::fill(data_.get(), data_.get() + size, value);
    }
    T* data() const { return data_.get(); }
    size_t size() const { return size_; }
    T& operator[](size_t at) const { return data_.get()[at]; }

  private:
    struct Free {
        std::align_val_t alignment{64};
        void operator()(T* memory) const { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0;
};

}  // namespace actuators
