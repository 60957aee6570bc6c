"""Semi-bandit feedback: every item of the arm played is observed.

With w_i = Σ_{x∋i} η_x, the program is to minimise Σ η_x Δ_x subject to F_x(w) ≥ 1 for every
arm x not inside x*, where F_x(w) is the least information Σ_{i∈x∖x*} w_i d(φ_i, λ_i) over item
means under which x is as good as x*.  For Gaussian items that is
Σ_{i∈x∖x*} 1/w_i ≤ Δ_x²/2σ² (Combes, Talebi, Proutiere and Lelarge 2015).
"""
