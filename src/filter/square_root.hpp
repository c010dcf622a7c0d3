#pragma once

#include <Eigen/Core>

/// Covariances are kept as a square root S, P = S Sᵀ: P cannot lose its symmetry nor become negative, and spans twice
/// the digits. S need not be triangular. Nothing allocates after the first use with the same sizes.
namespace kinegraph::filter {

/// L with L Lᵀ = P, lower triangular, for a symmetric P that may be singular: what is left of a diagonal entry after
/// rounding counts as nothing, its column is zero. False if P is not positive semidefinite or not finite.
bool square_root(const Eigen::MatrixXd& P, Eigen::MatrixXd& L);

/// S with S Sᵀ = Aᵀ A, lower triangular, by Householder reflections. A is destroyed.
void compress(Eigen::MatrixXd& A, Eigen::MatrixXd& S);

/// P = S Sᵀ, symmetric to the last bit.
void covariance(const Eigen::MatrixXd& S, Eigen::MatrixXd& P);

}  // namespace kinegraph::filter
