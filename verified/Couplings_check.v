(* Folds of which the distances of the two runs change when the answer that moves is read: the check of couplings. *)
From Coq Require Import QArith List Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null Fold.
Import ListNotations.
Open Scope Q_scope.

(* Where the two runs may be together: a state, whether the answer that moves was read, how far the numbers of the state
   are apart, and what may still be lost. *)
Record coupling := Coupling { at_state : nat; has_moved : bool; apart_by : list Q; still : Q }.
(* The answers move by at most most in sum; minus and plus are the couplings of one answer that moves by -most, and by most. *)
Record coupled_certificate := CoupledCertificate {
  most : nat; cintegers : bool; cbound : Q; cprogram : fold; reals : nat; minus : list coupling; plus : list coupling }.

Section Check.
Variable c : coupled_certificate.
Definition group : Z := Z.of_nat (most c).
(* Of a leaf, the links of the case of a sign. *)
Definition case_of_sign (up : bool) : list coupling := if up then plus c else minus c.
Definition links_of (up : bool) (l : fleaf) : list link := nth (if up then 1 else 0) (links l) [].
Definition far (up : bool) : Q := inject_Z (if up then group else - group).

(* That a link leads on from where dl is between the two runs, at the cost of what is given up. *)
Definition link_ok (up : bool) ds cs (l : fleaf) (moved : bool) (v : Q) (dl : list Q) (e : link) : bool :=
  match next l, link_to e with
  | None, None => keepsQ ds (map lin_of cs) (equalities cs ++ map without (released l)) v dl (link_shift e)
  | Some k, Some j =>
      match nth_error (case_of_sign up) j with
      | None => false
      | Some g => Nat.eqb (at_state g) k && Bool.eqb (has_moved g) moved && Nat.eqb (length (new l)) (reals c) &&
                  keepsQ ds (map lin_of cs) (kept cs l (apart_by g)) (v - still g) dl (link_shift e)
      end
  | _, _ => false
  end.
Definition from_is (i : option nat) (e : link) : bool :=
  match i, link_from e with None, None => true | Some a, Some b => Nat.eqb a b | _, _ => false end.
Definition linked up ds cs l moved v (dl : list Q) (i : option nat) (d : Q) : bool :=
  existsb (fun e => from_is i e && Qeq_bool (link_difference e) d && link_ok up ds cs l moved v dl e) (links_of up l).

Definition never_ok (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in match dead l with Some v => dead_ok ds cs v | None => null ds cs end.
Definition numbered (up : bool) : list (nat * coupling) := combine (seq 0 (length (case_of_sign up))) (case_of_sign up).
Definition step_linked (up : bool) (k : nat) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in
  never_ok p ||
  forallb (fun ig => let g := snd ig in negb (Nat.eqb (at_state g) k) ||
    (linked up ds cs l (has_moved g) (still g) (0 :: apart_by g) (Some (fst ig)) 0 &&
     (has_moved g || linked up ds cs l true (still g) (far up :: apart_by g) (Some (fst ig)) (far up)))) (numbered up).
Definition end_linked (up : bool) (k : nat) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in
  never_ok p ||
  match next l with None => true | Some _ => false end &&
  forallb (fun ig => let g := snd ig in negb (Nat.eqb (at_state g) k) || negb (has_moved g) ||
    linked up ds cs l true (still g) (apart_by g) (Some (fst ig)) 0) (numbered up).
Definition init_linked (up : bool) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in never_ok p || linked up ds cs l false (cbound c) [] None 0.

Definition noise_ok (t : tree fleaf) : bool :=
  wfb t 0 && forallb (fun p => negb (existsb discreteb (fst (fst p))) || cintegers c && Z.eqb group 1) (leaves t).
Definition check_couplings : bool :=
  let F := cprogram c in
  negb (Nat.eqb (most c) 0) && Qle_bool 0 (cbound c) &&
  forallb (fun g => Nat.eqb (length (apart_by g)) (reals c) && Qle_bool 0 (still g)) (minus c ++ plus c) &&
  noise_ok (init F) && forallb noise_ok (steps F) &&
  forallb (fun o => match o with None => true | Some t => noise_ok t end) (ends F) &&
  forallb (fun up =>
    forallb (init_linked up) (leaves (init F)) &&
    forallb (fun k => forallb (step_linked up k) (leaves (nth k (steps F) Nil)) &&
                      match nth k (ends F) None with None => true | Some t => forallb (end_linked up k) (leaves t) end)
            (seq 0 (Nat.max (length (steps F)) (length (ends F))))) [false; true].
End Check.
