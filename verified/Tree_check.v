(* Mechanisms that read exactly n answers: what a certificate of kind tree says, and its check. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null Complete Fold.
Import ListNotations.
Open Scope R_scope.

Record tree_entry := TreeEntry { tdiff : list Q; tshift : list Q }.
(* A leaf returns its label and the values that it releases; the rest is what the certificate says of it: shifts, or a
   vector that shows that no run comes here, or the class to which it belongs, with vectors that show that it lies in the
   hull; and vectors that show that it lies outside of the hulls of classes. *)
Definition vector := list (nat * Q).
Record tree_leaf := TreeLeaf {
  tlabel : nat; treleased : list lin; tshifts : list tree_entry; tdead : option vector;
  tclass : option nat; tinside : list vector; tapart : list (nat * vector) }.
(* Leaves that are merged: conditions of their region, their draws, and a leaf that stands for them. *)
Record merged := Merged { hull : list cond; mdraws : list draw; mleaf : tree_leaf }.

(* all: every answer moves by at most k.  monotone: k steps, in each of which all answers move up, or all down, by at
   most 1.  sum: the answers move by at most k in sum (one answer by at most 1, k times; or norm=1). *)
Inductive tree_scope := TAll (k : nat) | TMonotone (k : nat) | TSum (k : nat).
Record tree_certificate := TreeCertificate {
  tscope : tree_scope; tintegers : bool; tlength : nat; tbound : Q; tprogram : tree tree_leaf; tclasses : list merged }.

Definition tree_output (l : tree_leaf) (env hs : list R) : nat * list R := (tlabel l, map (fun e => ev e env hs) (treleased l)).
(* The expectation of f of the output. *)
Definition tree_mechanism (I : draw -> law) (t : tree tree_leaf) (q : list R) (f : nat * list R -> R) : R :=
  run I t q [] (fun l hs => f (tree_output l q hs)).

Definition tree_neighbours (s : tree_scope) (integer : bool) (n : nat) (x y : list R) : Prop :=
  length x = n /\ length y = n /\
  (integer = true -> Forall2 (fun a b => exists z : Z, b - a = IZR z) x y) /\
  match s with
  | TAll k => Forall2 (fun a b => Rabs (b - a) <= IZR (Z.of_nat k)) x y
  | TMonotone k => exists u : nat, (u <= k)%nat /\
      Forall2 (fun a b => IZR (Z.of_nat u - Z.of_nat k) <= b - a <= IZR (Z.of_nat u)) x y
  | TSum k => total (map (fun p => snd p - fst p) (combine x y)) <= IZR (Z.of_nat k)
  end.

(* ---- the check ---- *)
Definition coef (j : nat) (e : lin) : Q := nth j (le e) 0%Q.
Definition lowj j rows eqs :=
  forallb (fun e => Qle_bool 0 (coef j e)) rows && forallb (fun e => Qeq_bool (coef j e) 0) eqs.
Definition highj j rows eqs :=
  forallb (fun e => Qle_bool (coef j e) 0) rows && forallb (fun e => Qeq_bool (coef j e) 0) eqs.
(* The worst differences of answer j; with discrete draws all whole numbers count. *)
Definition options (a b : Z) (disc : bool) rows eqs (j : nat) : list Q :=
  if lowj j rows eqs then [inject_Z a] else if highj j rows eqs then [inject_Z b]
  else if disc then ints a b else [inject_Z a; inject_Z b].
Fixpoint vertices (o : nat -> list Q) (j n : nat) : list (list Q) :=
  match n with O => [[]] | S n' => flat_map (fun a => map (cons a) (vertices o (S j) n')) (o j) end.
(* All whole-number points of a sum, as far as they can be worse. *)
Definition zrange (a b : Z) : list Z := map (fun i => (a + Z.of_nat i)%Z) (seq 0 (Z.to_nat (b - a + 1))).
Fixpoint points rows eqs (j n : nat) (k : Z) : list (list Q) :=
  match n with
  | O => [[]]
  | S n' => flat_map (fun a => map (cons (inject_Z a)) (points rows eqs (S j) n' (k - Z.abs a)))
      (zrange (if lowj j rows eqs then - k else if highj j rows eqs then 0 else - k) (if lowj j rows eqs then 0 else k))
  end.
(* How many vertices there are; a certificate lists every one, so that a forged one is not unfolded. *)
Fixpoint count_of_vertices (o : nat -> list Q) (j n : nat) : N :=
  match n with O => 1%N | S n' => (N.of_nat (length (o j)) * count_of_vertices o (S j) n')%N end.
Definition listed (s : tree_scope) (n : nat) (disc : bool) rows eqs (m : nat) : bool :=
  match s with
  | TAll k => N.leb (count_of_vertices (options (- Z.of_nat k) (Z.of_nat k) disc rows eqs) 0 n) (N.of_nat m)
  | TMonotone k => forallb (fun u => N.leb
      (count_of_vertices (options (Z.of_nat u - Z.of_nat k) (Z.of_nat u) disc rows eqs) 0 n) (N.of_nat m)) (seq 0 (S k))
  | TSum _ => true
  end.
Definition on_axis (n j : nat) (a : Q) : list Q := repeat 0%Q j ++ a :: repeat 0%Q (n - S j).
Definition needed (s : tree_scope) (n : nat) (disc : bool) rows eqs : option (list (list Q)) :=
  match s with
  | TAll k => Some (vertices (options (- Z.of_nat k) (Z.of_nat k) disc rows eqs) 0 n)
  | TMonotone k => Some (flat_map (fun u =>
      vertices (options (Z.of_nat u - Z.of_nat k) (Z.of_nat u) disc rows eqs) 0 n) (seq 0 (S k)))
  | TSum k => if disc then Some (points rows eqs 0 n (Z.of_nat k)) else
      Some (flat_map (fun j => map (on_axis n j) (options (- Z.of_nat k) (Z.of_nat k) false rows eqs j)) (seq 0 n))
  end.
Definition same (a b : list Q) := all2 (fun x y => if zeroq x then zeroq y else Qeq_bool x y) a b.
Definition tcovers ds rows eqs c (es : list tree_entry) (v : list Q) : bool :=
  existsb (fun e => same (tdiff e) v && keepsQ ds rows eqs c v (tshift e)) es.
Definition in_order ds rows eqs c (es : list tree_entry) (vs : list (list Q)) : bool :=
  all2 (fun e v => same (tdiff e) v && keepsQ ds rows eqs c v (tshift e)) es vs.
Definition tkept cs (l : tree_leaf) := equalities cs ++ map without (treleased l).
Definition leaf_ok (c : tree_certificate) (p : list draw * list cond * tree_leaf) : bool :=
  let '(ds, cs, l) := p in
  match tdead l with
  | Some v => dead_ok ds cs v
  | None => null ds cs || (
      let disc := existsb discreteb ds in
      (tintegers c || negb disc) &&
      listed (tscope c) (tlength c) disc (map lin_of cs) (tkept cs l) (length (tshifts l)) &&
      match needed (tscope c) (tlength c) disc (map lin_of cs) (tkept cs l) with
      | None => false
      | Some vs => let rows := map lin_of cs in let eqs := tkept cs l in
          in_order ds rows eqs (tbound c) (tshifts l) vs || forallb (tcovers ds rows eqs (tbound c) (tshifts l)) vs
      end)
  end.

(* Merged leaves: each has the draws and the output of its class, and its conditions contradict the negative of each of
   the hull.  With the draws of the class in place of its own, as far as there are such, every other leaf has probability
   0, or contradicts the hull. *)
Definition draws_eq_dec : forall a b : list draw, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Definition lins_eq_dec : forall a b : list lin, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Definition yes {A B : Prop} (d : {A} + {B}) : bool := if d then true else false.
Definition negative (c : cond) : option cond :=
  match c with Cgt e => Some (Cge (lneg e)) | Cge e => Some (Cgt (lneg e)) | Ceq _ => None end.
Definition is_member (k : nat) (p : list draw * list cond * tree_leaf) : bool :=
  match tclass (snd p) with Some j => Nat.eqb j k | None => false end.
Definition inside_ok (m : merged) (p : list draw * list cond * tree_leaf) : bool :=
  let '(ds, cs, l) := p in
  yes (draws_eq_dec ds (mdraws m)) && Nat.eqb (tlabel l) (tlabel (mleaf m)) &&
  yes (lins_eq_dec (treleased l) (treleased (mleaf m))) &&
  all2 (fun h v => match negative h with None => false | Some n => dead_ok ds (cs ++ [n]) v end) (hull m) (tinside l).
Definition apart_ok (k : nat) (m : merged) (p : list draw * list cond * tree_leaf) : bool :=
  let '(ds, cs, l) := p in
  let all := beyond (mdraws m) ds in
  null all cs ||
  match tdead l with
  | Some v => dead_ok all cs v
  | None => existsb (fun a => Nat.eqb (fst a) k && dead_ok all (hull m ++ cs) (snd a)) (tapart l)
  end.
Definition class_ok (c : tree_certificate) (k : nat) (m : merged) : bool :=
  let short := fun e => Nat.leb (length (lh e)) (length (mdraws m)) in
  forallb (fun h => short (lin_of h)) (hull m) && forallb short (treleased (mleaf m)) &&
  leaf_ok c (mdraws m, hull m, mleaf m) && existsb (is_member k) (leaves (tprogram c)) &&
  forallb (fun p => if is_member k p then inside_ok m p else apart_ok k m p) (leaves (tprogram c)).
Fixpoint classes_ok (c : tree_certificate) (k : nat) (ms : list merged) : bool :=
  match ms with [] => true | m :: r => class_ok c k m && classes_ok c (S k) r end.
Definition own_ok (c : tree_certificate) (p : list draw * list cond * tree_leaf) : bool :=
  match tclass (snd p) with Some k => Nat.ltb k (length (tclasses c)) | None => leaf_ok c p end.
Definition check_tree (c : tree_certificate) : bool :=
  match tlength c with O => false | _ => true end && match tscope c with TSum O => false | _ => true end &&
  wfb (tprogram c) 0 && forallb (own_ok c) (leaves (tprogram c)) &&
  match tclasses c with [] => true | _ => complete false (tprogram c) && classes_ok c 0 (tclasses c) end.
