(* Mechanisms that read answers one after the other, any number of them: the check of a certificate, and its theorem. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null.
Import ListNotations.
Open Scope R_scope.

(* ---- programs ---- *)
Record entry := Entry { difference : Q; shift : list Q }.
(* From one coupling to another (Couplings_check.v). *)
Record link := Link { link_from : option nat; link_difference : Q; link_shift : list Q; link_to : option nat }.
(* A leaf emits its label and the values that it releases, and goes on in state next with the numbers new.  The rest is
   what the certificate says of it: shifts or links, one list for each case, or a vector that shows that no run
   comes here. *)
Record fleaf := FLeaf {
  label : nat; released : list lin; next : option nat; new : list lin;
  shifts : list (list entry); links : list (list link); dead : option (list (nat * Q)) }.
Record fold := Fold { init : tree fleaf; steps : list (tree fleaf); ends : list (option (tree fleaf)) }.

Definition event : Type := nat * list R.
Definition emit (l : fleaf) env hs : event := (label l, map (fun e => ev e env hs) (released l)).
Definition fresh (l : fleaf) env hs : list R := map (fun e => ev e env hs) (new l).

Section Run.
Variable I : draw -> law.
Variable F : fold.

(* The expectation of f of all that is emitted from state k with numbers s on. *)
Fixpoint go (data : list R) (k : nat) (s : list R) (f : list event -> R) : R :=
  match data with
  | [] => match nth k (ends F) None with
          | None => f []
          | Some t => run I t s [] (fun l hs => f [emit l s hs])
          end
  | x :: rest =>
      run I (nth k (steps F) Nil) (x :: s) [] (fun l hs =>
        let e := emit l (x :: s) hs in
        match next l with
        | None => f [e]
        | Some k' => go rest k' (fresh l (x :: s) hs) (fun tr => f (e :: tr))
        end)
  end.
Definition mechanism (data : list R) (f : list event -> R) : R :=
  run I (init F) [] [] (fun l hs =>
    let e := emit l [] hs in
    match next l with
    | None => f [e]
    | Some k => go data k (fresh l [] hs) (fun tr => f (e :: tr))
    end).
End Run.

(* ---- neighbours ---- *)
(* Every answer moves by something in [lo, hi]; summed: and all of them by at most hi in sum, where lo is -hi.
   whole: the differences are whole numbers. *)
Record movement := Movement { summed : bool; whole : bool; lo : Z; hi : Z }.
Definition moves (m : movement) (d : R) : Prop :=
  IZR (lo m) <= d <= IZR (hi m) /\ (whole m = true -> exists z : Z, d = IZR z).
Fixpoint total (l : list R) : R := match l with [] => 0 | x :: l' => Rabs x + total l' end.
Lemma total_pos : forall l, 0 <= total l.
Proof. induction l; simpl; [lra|]. pose proof (Rabs_pos a). lra. Qed.
(* What answers may differ by where spent is what those before them have moved by, in sum. *)
Fixpoint apart (m : movement) (spent : R) (ds : list R) : Prop :=
  match ds with
  | [] => True
  | d :: ds' => moves m d /\
      if summed m then spent + Rabs d <= IZR (hi m) /\ apart m (spent + Rabs d) ds' else apart m spent ds'
  end.

(* ---- the check ---- *)
Record case := Case { way : movement; distances : list Q; allowances : list (Q * Q) }.

Fixpoint wfb {L} (t : tree L) (n : nat) : bool :=
  match t with
  | Leaf _ | Nil => true
  | Draw d t' => pos (db d) && wfb t' (S n)
  | Br cs a b => forallb (fun c => Nat.leb (length (lh (lin_of c))) n) cs && wfb a n && wfb b n
  end.

Definition without (e : lin) := Lin 0 (le e) (lh e).
Definition equalities (cs : list cond) := flat_map (fun c => match c with Ceq e => [without e] | _ => [] end) cs.
Fixpoint keep (es : list lin) (dist : list Q) : list lin :=
  match es, dist with e :: es', d :: dist' => Lin (- d) (le e) (lh e) :: keep es' dist' | _, _ => [] end.
Definition kept cs (l : fleaf) dist :=
  equalities cs ++ map without (released l) ++ match next l with None => [] | Some _ => keep (new l) dist end.

Definition head (e : lin) : Q := hd 0%Q (le e).
Definition low rows eqs := forallb (fun e => Qle_bool 0 (head e)) rows && forallb (fun e => Qeq_bool (head e) 0) eqs.
Definition high rows eqs := forallb (fun e => Qle_bool (head e) 0) rows && forallb (fun e => Qeq_bool (head e) 0) eqs.
Definition discreteb (d : draw) := match dm d with DLaplace => true | _ => false end.
Definition ints (a b : Z) : list Q := map (fun i => inject_Z (a + Z.of_nat i)) (seq 0 (Z.to_nat (b - a + 1))).
(* The differences of the answer that must have a shift; None if none would do. *)
Definition worst m ds rows eqs : option (list Q) :=
  if low rows eqs then Some [inject_Z (lo m)]
  else if high rows eqs then Some [inject_Z (hi m)]
  else if existsb discreteb ds then if whole m then Some (ints (lo m) (hi m)) else None
  else Some [inject_Z (lo m); inject_Z (hi m)].

Definition covers ds rows eqs c (differences_at : Q -> list Q) (entries : list entry) (needed : list Q) : bool :=
  forallb (fun n => existsb (fun e => Qeq_bool (difference e) n && keepsQ ds rows eqs c (differences_at n) (shift e)) entries) needed.

Definition left_from (c : case) (moved : bool) (k : option nat) : Q :=
  match k with None => 0%Q | Some k' => let p := nth k' (allowances c) (0%Q, 0%Q) in if moved then snd p else fst p end.

Definition flags (m : movement) : list bool := if summed m then [false; true] else [false].
Definition flat (l : fleaf) (n : nat) : bool := match next l with None => true | Some _ => Nat.eqb (length (new l)) n end.

Definition step_ok (c : case) (j k : nat) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in
  match dead l with
  | Some v => dead_ok ds cs v
  | None => null ds cs || (
      let rows := map lin_of cs in let eqs := kept cs l (distances c) in
      let es := nth j (shifts l) [] in let dl := fun n => n :: distances c in
      flat l (length (distances c)) &&
      match worst (way c) ds rows eqs with
      | None => false
      | Some needed => covers ds rows eqs (left_from c false (Some k) - left_from c (summed (way c)) (next l)) dl es needed
      end &&
      (negb (summed (way c)) ||
       (negb (existsb discreteb ds) || whole (way c) && Z.eqb (hi (way c)) 1) &&
       covers ds rows eqs (left_from c false (Some k) - left_from c false (next l)) dl es [0%Q] &&
       covers ds rows eqs (left_from c true (Some k) - left_from c true (next l)) dl es [0%Q]))
  end.
Definition end_ok (c : case) (j k : nat) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in
  match dead l with
  | Some v => dead_ok ds cs v
  | None => null ds cs ||
      forallb (fun m => covers ds (map lin_of cs) (equalities cs ++ map without (released l))
                          (left_from c m (Some k)) (fun _ => distances c) (nth j (shifts l) []) [0%Q]) (flags (way c))
  end.
Definition init_ok (c : case) (j : nat) (bound : Q) (p : list draw * list cond * fleaf) : bool :=
  let '(ds, cs, l) := p in
  match dead l with
  | Some v => dead_ok ds cs v
  | None => null ds cs || (
      flat l (length (distances c)) &&
      covers ds (map lin_of cs) (kept cs l (distances c)) (bound - left_from c false (next l)) (fun _ => []) (nth j (shifts l) []) [0%Q])
  end.

Definition check_case (F : fold) (bound : Q) (j : nat) (c : case) : bool :=
  (negb (summed (way c)) || Z.eqb (lo (way c)) (- hi (way c)) && Z.ltb 0 (hi (way c))) &&
  forallb (fun p => Qle_bool 0 (fst p) && Qle_bool 0 (snd p)) (allowances c) &&
  wfb (init F) 0 && forallb (fun t => wfb t 0) (steps F) &&
  forallb (fun o => match o with None => true | Some t => wfb t 0 end) (ends F) &&
  forallb (init_ok c j bound) (leaves (init F)) &&
  forallb (fun k => forallb (step_ok c j k) (leaves (nth k (steps F) Nil)) &&
                    match nth k (ends F) None with None => true | Some t => forallb (end_ok c j k) (leaves t) end)
          (seq 0 (Nat.max (length (steps F)) (length (ends F)))).

Fixpoint check_cases F bound j cs : bool :=
  match cs with [] => true | c :: cs' => check_case F bound j c && check_cases F bound (S j) cs' end.
