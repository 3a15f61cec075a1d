(* Programs that release one thing after the other, each chosen by what was released before: adaptive composition.  Data
   are looked at in places, such as all records, or a sample of them; and there may be several of them, with weights. *)
From Coq Require Import Reals QArith Qreals List Lra Lia.
From Dpaudit Require Import Law Tree.
Import ListNotations.
Open Scope R_scope.

(* What integrates bounded functions of what is released, a list of numbers. *)
Record output_law := OutputLaw {
  M : (list R -> R) -> R;
  M_mono : forall f g, bounded f -> bounded g -> (forall o, f o <= g o) -> M f <= M g;
  M_add : forall f g, bounded f -> bounded g -> M (fun o => f o + g o) = M f + M g;
  M_scale : forall c f, 0 <= c -> bounded f -> M (fun o => c * f o) = c * M f;
  M_one : M (fun _ => 1) = 1 }.

Lemma M_range : forall K f B, (forall o, 0 <= f o <= B) -> 0 <= M K f <= B.
Proof.
  intros K f B H. assert (HB : 0 <= B) by (specialize (H []); lra).
  assert (C : forall c, 0 <= c -> M K (fun _ => c) = c).
  { intros c Hc. transitivity (c * M K (fun _ => 1)); [|rewrite M_one; ring].
    rewrite <- M_scale by (auto; apply bounded_const; lra). apply Rle_antisym; apply M_mono; intros;
      try (apply bounded_const; lra); try (apply bounded_scale; [auto|apply bounded_const; lra]); lra. }
  assert (bounded f) by (exists B; auto).
  split; [rewrite <- (C 0) by lra|rewrite <- (C B) by lra]; apply M_mono; auto; try (apply bounded_const; lra); intros; apply H.
Qed.
Lemma M_lsum : forall K A (g : A -> list R -> R) l, (forall a, In a l -> bounded (g a)) ->
  M K (fun o => lsum (fun a => g a o) l) = lsum (fun a => M K (g a)) l /\ bounded (fun o => lsum (fun a => g a o) l).
Proof.
  induction l as [|a l IH]; intros H; simpl.
  - split; [|apply bounded_const; lra]. pose proof (M_range K (fun _ => 0) 0 ltac:(intros; lra)). lra.
  - destruct IH as [E Hb]; [intros; apply H; simpl; auto|]. assert (bounded (g a)) by (apply H; simpl; auto).
    split; [rewrite M_add by auto; rewrite E; auto|apply bounded_add; auto].
Qed.

Section Programs.
Variables data place : Type.
(* Release number i of what is in a place of the data; next may do anything with what was released. *)
Inductive program := Stop | Release (i : nat) (s : place) (K : data -> output_law) (next : list R -> program).

Fixpoint go_on (p : program) (d : place -> data) (f : list (list R) -> R) : R :=
  match p with
  | Stop => f []
  | Release i s K next => M (K (d s)) (fun o => go_on (next o) d (fun rest => f (o :: rest)))
  end.

(* The lists of releases that runs may make. *)
Fixpoint path (p : program) (l : list (nat * place)) : Prop :=
  match p, l with
  | Stop, [] => True
  | Release i s _ next, (j, s') :: l' => i = j /\ s = s' /\ exists o, path (next o) l'
  | _, _ => False
  end.
Fixpoint every (P : nat -> place -> (data -> output_law) -> Prop) (p : program) : Prop :=
  match p with Stop => True | Release i s K next => P i s K /\ forall o, every P (next o) end.

Lemma some_path : forall p, exists l, path p l.
Proof. induction p as [|i s K next IH]; [exists []; simpl; auto|]. destruct (IH []) as [l Hl]. exists ((i, s) :: l). simpl. eauto. Qed.

Lemma go_on_range : forall p d f B, (forall l, 0 <= f l <= B) -> 0 <= go_on p d f <= B.
Proof. induction p; intros d f B Hf; simpl; auto. apply M_range. intros o. apply H. intros. apply Hf. Qed.

(* Several data x, each with a weight, are near others, d: what is released costs so much. *)
Variables (X : Type) (xs : list X) (D : X -> place -> data) (d : place -> data) (c : X -> nat -> place -> R).
Definition spent (x : X) (l : list (nat * place)) : R := lsum (fun a => c x (fst a) (snd a)) l.
Definition near i s (K : data -> output_law) : Prop :=
  forall x f, In x xs -> bounded f -> M (K (D x s)) f <= exp (c x i s) * M (K (d s)) f.
Definition back i s (K : data -> output_law) : Prop :=
  forall x f, In x xs -> bounded f -> M (K (d s)) f <= exp (c x i s) * M (K (D x s)) f.

Theorem weighted : forall p w b f, every near p -> (forall x, In x xs -> 0 <= w x) ->
  (forall l, path p l -> lsum (fun x => w x * exp (spent x l)) xs <= b) -> bounded f ->
  lsum (fun x => w x * go_on p (D x) f) xs <= b * go_on p d f.
Proof.
  induction p as [|i s K next IH]; intros w b f Hn Hw Hp [B Hf]; simpl.
  - specialize (Hp [] I). unfold spent in Hp. simpl in Hp. pose proof (Hf []). rewrite Rmult_comm.
    eapply Rle_trans; [|apply Rmult_le_compat_l; [apply H|apply Hp]]. rewrite lsum_scale. apply lsum_le. intros x _.
    rewrite exp_0. lra.
  - destruct Hn as [Hs Hn]. set (G := fun x o => go_on (next o) x (fun rest => f (o :: rest))).
    assert (HG : forall x o, 0 <= G x o <= B) by (intros; apply go_on_range; intros; apply Hf).
    assert (BG : forall x, bounded (G x)) by (intros x; exists B; auto).
    set (w' := fun x => w x * exp (c x i s)).
    assert (Hw' : forall x, In x xs -> 0 <= w' x) by (intros; apply Rmult_le_pos; [auto|left; apply exp_pos]).
    apply Rle_trans with (lsum (fun x => M (K (d s)) (fun o => w' x * G (D x) o)) xs).
    { apply lsum_le. intros x Hx. rewrite M_scale by auto. unfold w'. rewrite Rmult_assoc. apply Rmult_le_compat_l; auto.
      apply (Hs x (G (D x))); auto. }
    destruct (M_lsum (K (d s)) X (fun x o => w' x * G (D x) o) xs) as [E Hb]; [intros; apply bounded_scale; auto|].
    rewrite <- E. assert (Hb0 : 0 <= b).
    { destruct (some_path (Release i s K next)) as [l Hl]. eapply Rle_trans; [|apply (Hp l Hl)].
      apply lsum_pos. intros. apply Rmult_le_pos; [auto|left; apply exp_pos]. }
    fold (G d). rewrite <- M_scale by auto. apply M_mono; auto; [apply bounded_scale; auto|]. intros o.
    apply IH; auto.
    + intros l Hl. specialize (Hp ((i, s) :: l)). eapply Rle_trans; [|apply Hp; simpl; eauto]. right. unfold spent. apply lsum_ext.
      intros x _. simpl. rewrite exp_plus. unfold w'. ring.
    + exists B. intros. apply Hf.
Qed.
(* The same from the other side. *)
Theorem weighted_below : forall p w b f, every back p -> (forall x, In x xs -> 0 <= w x) -> 0 <= b ->
  (forall l, path p l -> b <= lsum (fun x => w x * exp (- spent x l)) xs) -> bounded f ->
  b * go_on p d f <= lsum (fun x => w x * go_on p (D x) f) xs.
Proof.
  induction p as [|i s K next IH]; intros w b f Hn Hw Hb0 Hp [B Hf]; simpl.
  - specialize (Hp [] I). unfold spent in Hp. simpl in Hp. pose proof (Hf []). rewrite Rmult_comm.
    eapply Rle_trans; [apply Rmult_le_compat_l; [apply H|apply Hp]|]. rewrite lsum_scale. apply lsum_le. intros x _.
    rewrite Ropp_0, exp_0. lra.
  - destruct Hn as [Hs Hn]. set (G := fun x o => go_on (next o) x (fun rest => f (o :: rest))).
    assert (HG : forall x o, 0 <= G x o <= B) by (intros; apply go_on_range; intros; apply Hf).
    assert (BG : forall x, bounded (G x)) by (intros x; exists B; auto).
    set (w' := fun x => w x * exp (- c x i s)).
    assert (Hw' : forall x, In x xs -> 0 <= w' x) by (intros; apply Rmult_le_pos; [auto|left; apply exp_pos]).
    apply Rle_trans with (lsum (fun x => M (K (d s)) (fun o => w' x * G (D x) o)) xs).
    2: { apply lsum_le. intros x Hx. rewrite M_scale by auto. unfold w'. rewrite Rmult_assoc. apply Rmult_le_compat_l; auto.
         apply Rmult_le_reg_l with (exp (c x i s)); [apply exp_pos|]. rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0, Rmult_1_l.
         apply (Hs x (G (D x))); auto. }
    destruct (M_lsum (K (d s)) X (fun x o => w' x * G (D x) o) xs) as [E Hb]; [intros; apply bounded_scale; auto|].
    rewrite <- E. fold (G d). rewrite <- M_scale by auto. apply M_mono; auto; [apply bounded_scale; auto|]. intros o.
    apply IH; auto.
    + intros l Hl. specialize (Hp ((i, s) :: l)). eapply Rle_trans; [apply Hp; simpl; eauto|]. right. unfold spent. apply lsum_ext.
      intros x _. simpl. rewrite Ropp_plus_distr, exp_plus. unfold w'. ring.
    + exists B. intros. apply Hf.
Qed.
End Programs.
Arguments Stop {data place}. Arguments Release {data place}. Arguments go_on {data place}. Arguments path {data place}.
Arguments every {data place}.

(* If along every list of releases the costs add up to e at most, so does the whole. *)
Theorem composition : forall (data place : Type) (p : program data place) (d d' : place -> data) cost e f,
  every (near data place unit [tt] (fun _ => d) d' (fun _ => cost)) p ->
  (forall l, path p l -> lsum (fun a => cost (fst a) (snd a)) l <= e) -> bounded f ->
  go_on p d f <= exp e * go_on p d' f.
Proof.
  intros data place p d d' cost e f Hn Hp Hf.
  pose proof (weighted data place unit [tt] (fun _ => d) d' (fun _ => cost) p (fun _ => 1) (exp e) f Hn) as H. simpl in H.
  rewrite !Rmult_1_l, Rplus_0_r in H. apply H; auto; [intros; lra|].
  intros l Hl. specialize (Hp l Hl). unfold spent. rewrite Rplus_0_r, Rmult_1_l.
  destruct (Rle_lt_or_eq_dec _ _ Hp) as [Hl'|Hl']; [left; apply exp_increasing; auto|rewrite Hl'; lra].
Qed.
