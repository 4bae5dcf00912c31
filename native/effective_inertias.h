// Effective inertias of joints from factored mass matrices, and coupled ones, see simulators/mujoco/joint_signals.py.
#pragma once
#include <cmath>
#include <optional>

#include "transfer.h"

namespace actuators {

// M = L'DL as in MuJoCo: rows of L up to the diagonal, and the inverse of D. Coordinates follow their ancestors, which
// are the columns of their row.
class EffectiveInertias {
  public:
    EffectiveInertias(const py::object& factors, const py::object& inverses, std::vector<int32_t> counts,
                      std::vector<int32_t> starts, std::vector<int32_t> columns, std::vector<int32_t> chosen,
                      const py::object& out, const py::object& coupled)
        : factors_(factors, false),
          inverses_(inverses, false),
          out_(out, true),
          counts_(std::move(counts)),
          starts_(std::move(starts)),
          columns_(std::move(columns)),
          chosen_(std::move(chosen)),
          rows_(chosen_.size() * counts_.size()),
          inverse_(chosen_.size() * chosen_.size()) {
        if (!coupled.is_none()) coupled_.emplace(coupled, true);
        for (const Matrix* one : {&factors_, &inverses_})
            if (!one->wide || !one->whole() || one->rows != out_.rows)
                refuse("factors, inverses", "float64 arrays of as many rows as the target, contiguous within a row");
        if (out_.wide || !out_.whole() || out_.columns != static_cast<int64_t>(chosen_.size()))
            refuse("target", "float32, a column per coordinate chosen, contiguous within a row");
        if (coupled_ &&
            (coupled_->wide || !coupled_->whole() || coupled_->rows != out_.rows || coupled_->columns != out_.columns))
            refuse("coupled", "an array like the target");
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
        const size_t count = chosen_.size();
        for (int64_t env = 0; env < out_.rows; ++env) {
            const double *factor = factors_.row<const double>(env), *inverse = inverses_.row<const double>(env);
            float* out = out_.row<float>(env);
            for (size_t k = 0; k < count; ++k) {
                const double admittance = inverse_[k * count + k] = find_row(k, factor, inverse);
                // zero until the matrix is factored
                out[k] = admittance > 0.0 ? static_cast<float>(1.0 / admittance) : 0.0f;
            }
            if (coupled_) couple(inverse, coupled_->row<float>(env));
        }
    }

  private:
    // Row of L^-1 of an axis; returns its diagonal entry of the inverse matrix: the squares of the row, weighted by
    // D^-1 and summed.
    double find_row(size_t k, const double* factor, const double* inverse) {
        const int32_t i = chosen_[k];
        double* const row = &rows_[k * counts_.size()];
        double sum = 0.0;
        row[i] = 1.0;
        for (int32_t at = starts_[i]; at < starts_[i] + counts_[i] - 1; ++at) row[columns_[at]] = 0.0;
        // from the joint to the root
        for (int32_t at = starts_[i] + counts_[i] - 1; at >= starts_[i]; --at) {
            const int32_t j = columns_[at];
            const double here = row[j];
            sum += here * here * inverse[j];
            for (int32_t n = starts_[j]; n < starts_[j] + counts_[j] - 1; ++n) row[columns_[n]] -= factor[n] * here;
        }
        return sum;
    }

    // Entry of the inverse matrix, from the rows of the axes: the sum over the ancestors of both.
    double between(size_t k, size_t other, const double* inverse) const {
        const double *const one = &rows_[k * counts_.size()], *const two = &rows_[other * counts_.size()];
        const int32_t i = chosen_[k];
        double sum = 0.0;
        for (int32_t at = starts_[i]; at < starts_[i] + counts_[i]; ++at) {
            const int32_t j = columns_[at];
            sum += one[j] * two[j] * inverse[j];
        }
        return sum;
    }

    // Inertias that are less by the sum of the correlations with the other axes.
    void couple(const double* inverse, float* out) {
        const size_t count = chosen_.size();
        for (size_t k = 0; k < count; ++k)
            for (size_t other = 0; other < k; ++other)
                inverse_[k * count + other] = inverse_[other * count + k] = between(k, other, inverse);
        for (size_t k = 0; k < count; ++k) {
            const double own = inverse_[k * count + k];
            double sum = 0.0;
            for (size_t other = 0; other < count; ++other)
                sum += std::fabs(inverse_[k * count + other]) * std::sqrt(own / inverse_[other * count + other]);
            out[k] = own > 0.0 ? static_cast<float>(1.0 / sum) : 0.0f;
        }
    }

    Matrix factors_, inverses_, out_;
    std::vector<int32_t> counts_, starts_, columns_, chosen_;
    std::optional<Matrix> coupled_;
    // a row of L^-1 per axis, zero where no ancestor is, and the inverse matrix of the axes
    std::vector<double> rows_, inverse_;
};

}  // namespace actuators
