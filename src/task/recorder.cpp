#include "kinegraph/task/recorder.hpp"

namespace kinegraph::task {

Recorder::Recorder(const Model& model, std::shared_ptr<const natural::System> system, bool reactions)
    : system_(std::move(system)), relative_(static_cast<int>(model.relative.size())) {
  for (const Point& p : model.points) {
    if (p.fixed) continue;
    for (const char* quantity : {".x", ".y", ".vx", ".vy", ".ax", ".ay"}) names_.push_back(p.name + quantity);
  }
  for (const RelativeCoordinate& r : model.relative) {
    for (const char* quantity : {".q", ".v", ".a"}) names_.push_back(r.name + quantity);
  }
  for (const Motor& m : model.motors) names_.push_back(m.name + ".tau");
  if (reactions) {
    reactions_ = std::make_unique<natural::Reactions>(model, system_);
    names_.insert(names_.end(), reactions_->names().begin(), reactions_->names().end());
  }
  row_.resize(names_.size());
}

const double* Recorder::row(const double* q, const double* v, const double* a, const double* lambda, const double* u,
                            double t) {
  const int n = system_->coordinates();
  double* out = row_.data();
  for (int i = 0; i < n - relative_; i += 2) {
    for (const double* x : {q, v, a}) {
      *out++ = x[i];
      *out++ = x[i + 1];
    }
  }
  for (int i = n - relative_; i < n; ++i) {
    for (const double* x : {q, v, a}) *out++ = x[i];
  }
  for (int j = 0; j < system_->motors(); ++j) *out++ = u[j];
  if (reactions_) reactions_->evaluate(q, v, a, lambda, u, t, out);
  return row_.data();
}

}  // namespace kinegraph::task
