"""What rates tell of each alternative, a record for each kind of structure.

A program has columns, which are played, and rows, its alternatives.  Every record has

- ``n_alternatives()`` and ``degrees()``: how many rows there are, and on how many numbers
  rates act, such as weights of items or the entries of a symmetric matrix;
- ``follow(leader, plays, alternatives)``: begin anew with a leader, and say which columns and rows
  are open to it; those that are not cost nothing or cannot be told apart;
- ``seed(work)``: score the columns and rows to begin with;
- ``play(columns, count, rates)``: from now on, so many of the columns are played at these rates;
- ``inform(row, enough)``: F of a row where that is played, 0 or less where it has none; from
  ``enough`` on, a lower bound will do.  The minimiser is remembered, to start from;
- ``gradient_at(row, columns, count, out)``: the divergence of some columns at that minimiser;
- ``add_bends(rows, weights, n_rows, columns, count, scale, out)``: add Σ weight (−∇²F) of some rows
  to an upper triangle, where column e is counted in units of scale[e];
- ``keep(row)``: hold the minimiser, for the lower side of the value;
- ``price_held(rows, weights, count, is_open, out)``: Σ weight · divergence of every open column at
  the minimisers held;
- ``inform_all(proving, alternatives)``: F of every open row, found, or what ``prove(row, told)``
  proves of it; the least.  Records without a shortcut ask row by row (``look_at_each``);
- ``settle(least, n_rows, work)``: keep these proofs, for the rates divided by the least of them;
- ``rescale(stretched)`` and ``rule_out(chosen, is_row, scores)``: better coordinates, and which
  scores count no longer once one column or row was chosen.

Those that policies follow from estimate to estimate (``program.warm``) also have
``recheck(n_rows, work)``, the least that is still proved of the rates held and the most that any
column tells for its cost at the weights held, both at the gaps there are now; ``fit(row)``, which
moves the minimiser held to these gaps; and ``fall_back(is_open, out)``, rates that are feasible
whatever happened.
"""
