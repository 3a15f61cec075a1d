(* What is extracted.  `zeroq` also counts a step, so that no certificate keeps a page busy; what it answers is the same. *)
From Coq Require Import QArith ZArith List Extraction ExtrOcamlBasic.
From Dpaudit Require Import Law Tree Shifts Farkas Null Argmax Fold Fold_private Tree_check Values_check.
Extraction Language OCaml.
Extract Constant zeroq =>
  "(fun q -> match q.qnum with Z0 -> Steps.zero (); true | _ -> Steps.nonzero (); false)".
Extraction "checker.ml" check_fold check_tree check_values compare_lt compare_le compare3 argmax Qred Qle_bool Z.add Z.mul Z.opp
  Pos.of_succ_nat Z.of_nat Z.to_pos Pos.size_nat.
