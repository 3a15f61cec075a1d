(* What the theorems rest on: `make verified` compares this output with assumptions.txt. *)
From Dpaudit Require Import Fold_private Couplings_private Tree_private Values_private Geometric Composition Releases_private Argmax Tree.
Print Assumptions fold_private.
Print Assumptions couplings_private.
Print Assumptions tree_private.
Print Assumptions values_private.
Print Assumptions discrete_tree_private.
Print Assumptions composition.
Print Assumptions releases_private.
Print Assumptions run_argmax.
Print Assumptions run_compare_lt.
Print Assumptions run_compare_le.
Print Assumptions run_compare3.
