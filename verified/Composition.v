(* Programs on records that release numbers one after the other: adaptive composition, and kinds of records.
   A start: Laplace and discrete Laplace noise, pure epsilon, one record comes or goes.  Not read from JSON yet. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts.
Import ListNotations.
Open Scope R_scope.

Section Programs.
Variable data : Type.
(* Release number i of what v computes of the data, with noise; next may do anything with what was released. *)
Inductive program := Stop | Release (i : nat) (v : data -> R) (next : R -> program).

Variable I : draw -> law.
Variable noise : nat -> draw.   (* of each release *)

Fixpoint go_on (p : program) (d : data) (f : list R -> R) : R :=
  match p with
  | Stop => f []
  | Release i v next => E (I (noise i)) (fun h => go_on (next (v d + h)) d (fun rest => f (v d + h :: rest)))
  end.

(* The lists of releases that runs may make. *)
Fixpoint path (p : program) (l : list nat) : Prop :=
  match p, l with
  | Stop, [] => True
  | Release i _ next, j :: l' => i = j /\ exists r, path (next r) l'
  | _, _ => False
  end.
Lemma some_path : forall p, exists l, path p l.
Proof. induction p; [exists []; simpl; auto|]. destruct (H 0) as [l Hl]. exists (i :: l). simpl. eauto. Qed.

(* Between data and their neighbour release i moves by at most far i (times its scale: cost i). *)
Variables (d d' : data) (cost_ : nat -> R).
Fixpoint near (p : program) : Prop :=
  match p with
  | Stop => True
  | Release i v next => shift_ok (I (noise i)) (v d - v d') (cost_ i) /\ forall r, near (next r)
  end.

Lemma go_range_ : forall p x f B, (forall l, 0 <= f l <= B) -> 0 <= go_on p x f <= B.
Proof. induction p; intros x f B Hf; simpl; auto. apply E_range. intros h. apply H. intros. apply Hf. Qed.

Theorem composition : forall p e f, near p -> (forall l, path p l -> lsum cost_ l <= e) -> bounded f ->
  go_on p d f <= exp e * go_on p d' f.
Proof.
  induction p as [|i v next IH]; intros e f Hn Hp [B Hf]; simpl.
  - specialize (Hp [] Logic.I). simpl in Hp. pose proof (Hf []).
    assert (1 <= exp e). { rewrite <- exp_0. destruct Hp as [Hp|<-]; [left; apply exp_increasing; auto|lra]. }
    apply Rle_trans with (1 * f []); [lra|]. apply Rmult_le_compat_r; lra.
  - destruct Hn as [Hs Hn].
    set (G := fun x r => go_on (next r) x (fun rest => f (r :: rest))).
    assert (HG : forall x r, 0 <= G x r <= B) by (intros; apply go_range_; intros; apply Hf).
    assert (Step : forall r, G d r <= exp (e - cost_ i) * G d' r).
    { intros r. apply IH; auto.
      - intros l Hl. specialize (Hp (i :: l)). simpl in Hp. assert (cost_ i + lsum cost_ l <= e) by (apply Hp; eauto). lra.
      - exists B. intros. apply Hf. }
    set (H' := fun h => G d' (v d' + h)).
    assert (HH : bounded H') by (exists B; intros; apply HG).
    apply Rle_trans with (E (I (noise i)) (fun h => exp (e - cost_ i) * H' (h + (v d - v d')))).
    + apply E_mono.
      * exists B. intros h. apply HG.
      * apply bounded_scale; [left; apply exp_pos|]. apply (bounded_comp _ _ H' (fun h => h + (v d - v d'))). auto.
      * intros h _. change (G d (v d + h) <= exp (e - cost_ i) * H' (h + (v d - v d'))). unfold H'.
        replace (v d' + (h + (v d - v d'))) with (v d + h) by ring. apply Step.
    + rewrite E_scale; [|left; apply exp_pos|apply (bounded_comp _ _ H' (fun h => h + (v d - v d'))); auto].
      replace e with (e - cost_ i + cost_ i) at 2 by ring. rewrite exp_plus, Rmult_assoc.
      apply Rmult_le_compat_l; [left; apply exp_pos|]. apply (Hs H'). auto.
Qed.
End Programs.
