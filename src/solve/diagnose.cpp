#include "kinegraph/solve/diagnose.hpp"
namespace kinegraph {
std::string Diagnosis::to_string() const { return counts; }
Diagnosis diagnose(Linearization& l) { Diagnosis d; d.counts = l.structure().counts(); return d; }
}
