// Effective inertias of joints from factored mass matrices, see hosts/mujoco/joint_signals.py.
#pragma once
#include "transfer.h"

namespace actuators {

// M = L'DL as in MuJoCo: rows of L up to the diagonal, and the inverse of D. Coordinates follow their ancestors, which
// are the columns of their row.
class EffectiveInertias {
  public:
    EffectiveInertias(const py::object& factors, const py::object& inverses, std::vector<int32_t> counts,
                      std::vector<int32_t> starts, std::vector<int32_t> columns, std::vector<int32_t> chosen,
                      const py::object& out)
        : factors_(factors, false),
          inverses_(inverses, false),
          out_(out, true),
          counts_(std::move(counts)),
          starts_(std::move(starts)),
          columns_(std::move(columns)),
          chosen_(std::move(chosen)),
          row_(counts_.size()) {
        for (const Matrix* one : {&factors_, &inverses_})
            if (!one->wide || !one->whole() || one->rows != out_.rows)
                refuse("factors, inverses", "float64 arrays of as many rows as the target, contiguous within a row");
        if (out_.wide || !out_.whole() || out_.columns != static_cast<int64_t>(chosen_.size()))
            refuse("target", "float32, a column per coordinate chosen, contiguous within a row");
        const int64_t size = static_cast<int64_t>(counts_.size());
        if (inverses_.columns != size || static_cast<int64_t>(starts_.size()) != size ||
            static_cast<int64_t>(columns_.size()) != factors_.columns)
            refuse("counts, starts, columns", "those of the factors");
        for (int64_t i = 0; i < size; ++i) {
            const int64_t first = starts_[i], last = first + counts_[i] - 1;
            if (first < 0 || counts_[i] < 1 || last >= factors_.columns || columns_[last] != i)
                refuse("row " + std::to_string(i), "of the factors, and end with its diagonal");
            for (int64_t k = first; k < last; ++k)
                if (columns_[k] < 0 || columns_[k] >= i) refuse("columns", "ascending before the diagonal");
        }
        inverses_.require(chosen_);
    }

    void run() {
        for (int64_t env = 0; env < out_.rows; ++env) {
            const double *factor = factors_.row<const double>(env), *inverse = inverses_.row<const double>(env);
            float* out = out_.row<float>(env);
            for (size_t k = 0; k < chosen_.size(); ++k) {
                const double admittance = diagonal(chosen_[k], factor, inverse);
                // zero until the matrix is factored
                out[k] = admittance > 0.0 ? static_cast<float>(1.0 / admittance) : 0.0f;
            }
        }
    }

  private:
    // Diagonal entry of the inverse matrix: squares of the row of L^-1, weighted by D^-1 and summed.
    double diagonal(int32_t i, const double* factor, const double* inverse) {
        double sum = 0.0;
        row_[i] = 1.0;
        for (int32_t k = starts_[i]; k < starts_[i] + counts_[i] - 1; ++k) row_[columns_[k]] = 0.0;
        // from the joint to the root
        for (int32_t at = starts_[i] + counts_[i] - 1; at >= starts_[i]; --at) {
            const int32_t j = columns_[at];
            const double here = row_[j];
            sum += here * here * inverse[j];
            for (int32_t k = starts_[j]; k < starts_[j] + counts_[j] - 1; ++k) row_[columns_[k]] -= factor[k] * here;
        }
        return sum;
    }

    Matrix factors_, inverses_, out_;
    std::vector<int32_t> counts_, starts_, columns_, chosen_;
    std::vector<double> row_;
};

}  // namespace actuators
