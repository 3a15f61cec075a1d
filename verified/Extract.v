(* What is extracted.  `zeroq` and `costly` also count steps, so that no certificate keeps a page busy; what they answer is
   the same. *)
From Coq Require Import QArith ZArith List Extraction ExtrOcamlBasic.
From Dpaudit Require Import Law Tree Shifts Farkas Null Argmax Fold Fold_private Tree_check Values_check Couplings_check Releases_check.
Extraction Language OCaml.
Extract Constant zeroq =>
  "(fun q -> match q.qnum with Z0 -> Steps.zero (); true | _ -> Steps.nonzero (); false)".
Extract Constant costly => "(fun x -> Steps.spend 250_000; x)".
Extraction "checker.ml" check_fold check_couplings check_tree check_values check_releases odds_ok below_exp rounded kinds_of_column own compare_lt compare_le compare3 argmax Qred Qle_bool Z.add Z.mul Z.opp
  Pos.of_succ_nat Z.of_nat Z.to_pos Pos.size_nat.
