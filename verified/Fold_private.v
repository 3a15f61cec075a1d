(* Certificates of folds: the scope, the check that is extracted, and what it proves. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Fold Fold_sound.
Import ListNotations.
Open Scope R_scope.

(* all: every answer moves by at most k.  monotone: k steps, in each of which all answers move up, or all down, by at
   most 1.  sum: the answers move by at most k in sum (one answer by at most 1, k times; or norm=1). *)
Inductive scope := All (k : nat) | Monotone (k : nat) | Sum (k : nat).
Fixpoint sub (y x : list R) : list R := match y, x with b :: y', a :: x' => (b - a) :: sub y' x' | _, _ => [] end.

Definition neighbours (s : scope) (integer : bool) (x y : list R) : Prop :=
  (integer = true -> Forall2 (fun a b => exists z : Z, b - a = IZR z) x y) /\
  match s with
  | All k => Forall2 (fun a b => Rabs (b - a) <= IZR (Z.of_nat k)) x y
  | Monotone k => exists u : nat, (u <= k)%nat /\
      Forall2 (fun a b => IZR (Z.of_nat u - Z.of_nat k) <= b - a <= IZR (Z.of_nat u)) x y
  | Sum k => length x = length y /\ total (sub y x) <= IZR (Z.of_nat k)
  end.

Definition ways (s : scope) (integer : bool) : list movement :=
  match s with
  | All k => [Movement false integer (- Z.of_nat k) (Z.of_nat k)]
  | Monotone k => map (fun u => Movement false integer (Z.of_nat u - Z.of_nat k) (Z.of_nat u)) (seq 0 (S k))
  | Sum k => [Movement true integer (- Z.of_nat k) (Z.of_nat k)]
  end.

Record certificate := Certificate {
  the_scope : scope; integers : bool; bound : Q; program : fold; given : list (list Q * list (Q * Q)) }.

Definition cases_of (c : certificate) : list case :=
  map (fun p => Case (fst p) (fst (snd p)) (snd (snd p))) (combine (ways (the_scope c) (integers c)) (given c)).
Definition check_fold (c : certificate) : bool :=
  Nat.eqb (length (given c)) (length (ways (the_scope c) (integers c))) && check_cases (program c) (bound c) 0 (cases_of c).

Lemma check_cases_nth : forall F b cs j i c, check_cases F b j cs = true -> nth_error cs i = Some c ->
  check_case F b (j + i) c = true.
Proof.
  induction cs; intros j i c H Hn; [destruct i; discriminate|].
  simpl in H. apply andb_true_iff in H. destruct H as [H1 H2]. destruct i; simpl in Hn.
  - inversion Hn; subst. rewrite Nat.add_0_r. auto.
  - rewrite <- Nat.add_succ_comm. apply (IHcs (S j)); auto.
Qed.

Lemma nth_combine : forall A B (a : list A) (b : list B) i x, length a = length b -> nth_error a i = Some x ->
  exists y, nth_error (combine a b) i = Some (x, y).
Proof.
  induction a; destruct b; intros i x Hl Hn; destruct i; simpl in *; try discriminate.
  - inversion Hn; subst. eauto.
  - apply IHa; auto.
Qed.

Lemma sub_length : forall x y, length y = length x -> length (sub y x) = length x.
Proof. induction x; destruct y; simpl; intros; auto; discriminate. Qed.
Lemma vadd_sub : forall x y, length y = length x -> vadd x (sub y x) = y.
Proof. induction x; destruct y; simpl; intros; auto; try discriminate. f_equal; [ring|apply IHx; lia]. Qed.

Lemma case_of : forall c i w, check_fold c = true -> nth_error (ways (the_scope c) (integers c)) i = Some w ->
  exists k, way k = w /\ exists j, check_case (program c) (bound c) j k = true.
Proof.
  intros c i w H Hn. unfold check_fold in H. apply andb_true_iff in H. destruct H as [Hl Hc]. apply Nat.eqb_eq in Hl.
  destruct (nth_combine _ _ _ (given c) i w (eq_sym Hl) Hn) as [y Hy].
  eexists. split; [|exists (0 + i)%nat; eapply check_cases_nth; [apply Hc|unfold cases_of; apply map_nth_error; apply Hy]].
  reflexivity.
Qed.

Lemma apart_box : forall w m x y, summed w = false ->
  (whole w = true -> Forall2 (fun a b => exists z : Z, b - a = IZR z) x y) ->
  Forall2 (fun a b => IZR (lo w) <= b - a <= IZR (hi w)) x y -> apart w m (sub y x).
Proof.
  intros w m x y Ho Hw H. induction H; simpl; auto. rewrite Ho. split.
  - split; auto. intros W. specialize (Hw W). inversion Hw; auto.
  - apply IHForall2. intros W. specialize (Hw W). inversion Hw; auto.
Qed.

Lemma sub_whole : forall (x y : list R), Forall2 (fun a b => exists z : Z, b - a = IZR z) x y ->
  Forall (fun d => exists z : Z, d = IZR z) (sub y x).
Proof. induction 1; simpl; constructor; auto. Qed.
Lemma apart_sum : forall w ds spent, summed w = true -> lo w = (- hi w)%Z -> 0 <= spent ->
  spent + total ds <= IZR (hi w) -> (whole w = true -> Forall (fun d => exists z : Z, d = IZR z) ds) -> apart w spent ds.
Proof.
  intros w. induction ds as [|d ds IH]; intros spent S Hlo H0 Ht Hw; simpl; auto. simpl in Ht.
  pose proof (total_pos ds). pose proof (Rabs_pos d). rewrite S. split; [split|split].
  - rewrite Hlo, opp_IZR. unfold Rabs in *. destruct (Rcase_abs d); lra.
  - intros W. specialize (Hw W). inversion Hw; auto.
  - lra.
  - apply IH; auto; try lra. intros W. specialize (Hw W). inversion Hw; auto.
Qed.

Section Sound.
Variable c : certificate.
Hypothesis Hc : check_fold c = true.
Variable I : draw -> law.
Hypothesis HL : forall t ds cs l, t = init (program c) \/ In t (steps (program c)) \/ In (Some t) (ends (program c)) ->
  In (ds, cs, l) (leaves t) -> Forall (lawful1 I) ds.

(* The data have any length, and f is any bounded function of all that the mechanism emits, such as whether that is in
   some set, or what is computed of it. *)
Theorem fold_private_on : forall x y f, neighbours (the_scope c) (integers c) x y -> bounded f ->
  mechanism I (program c) x f <= exp (Q2R (bound c)) * mechanism I (program c) y f.
Proof.
  assert (Base : forall i w x y f, nth_error (ways (the_scope c) (integers c)) i = Some w ->
    length y = length x -> apart w 0 (sub y x) -> bounded f ->
    mechanism I (program c) x f <= exp (Q2R (bound c)) * mechanism I (program c) y f).
  { intros i w x y f Hn Hl Ha Hf. destruct (case_of c i w Hc Hn) as (k & <- & j & Hk).
    pose proof (case_sound I (program c) HL (bound c) j k Hk x (sub y x) f (sub_length x y Hl) Ha Hf) as H.
    rewrite vadd_sub in H by auto. auto. }
  intros x y f [Hi Hs] Hf. unfold ways in Base. destruct (the_scope c) as [k|k|].
  - apply (Base 0%nat _ x y f eq_refl); auto.
    + symmetry. eapply Forall2_length; eauto.
    + apply apart_box; auto. simpl. rewrite opp_IZR. clear - Hs. induction Hs; constructor; auto.
      apply Rabs_def2_le in H || (unfold Rabs in H; destruct (Rcase_abs (y - x)); lra).
  - destruct Hs as (u & Hu & Hs). apply (Base u (Movement false (integers c) (Z.of_nat u - Z.of_nat k) (Z.of_nat u)) x y f); auto.
    + rewrite nth_error_map. assert (Hn : nth_error (seq 0 (S k)) u = Some u).
      { rewrite (nth_error_nth' _ 0%nat) by (rewrite seq_length; lia). rewrite seq_nth by lia. reflexivity. }
      rewrite Hn. reflexivity.
    + symmetry. eapply Forall2_length; eauto.
    + apply apart_box; auto.
  - destruct Hs as [Hl Hs]. apply (Base 0%nat _ x y f eq_refl); auto.
    apply apart_sum; auto; simpl; [lra|lra|]. intros W. apply sub_whole. auto.
Qed.
End Sound.

(* For every interpretation of the noise that is lawful. *)
Theorem fold_private : forall c, check_fold c = true -> forall I, lawful I -> forall x y f,
  neighbours (the_scope c) (integers c) x y -> bounded f ->
  mechanism I (program c) x f <= exp (Q2R (bound c)) * mechanism I (program c) y f.
Proof.
  intros c Hc I HI x y f Hn Hf. apply fold_private_on; auto.
  intros t ds cs l Ht Hin. unfold check_fold in Hc. apply andb_true_iff in Hc. destruct Hc as [Hl Hcs].
  assert (exists j k, check_case (program c) (bound c) j k = true) as (j & k & Hk).
  { destruct (ways (the_scope c) (integers c)) eqn:W; [destruct (the_scope c); discriminate|].
    destruct (case_of c 0 m) as (k & _ & j & Hk); eauto.
    - unfold check_fold. rewrite andb_true_iff, W. auto.
    - rewrite W. reflexivity. }
  destruct (parts_ok (program c) (bound c) j k Hk) as (_ & Hi & _).
  unfold check_case in Hk. rewrite !andb_true_iff in Hk. destruct Hk as (((((H1 & H2) & H3) & H4) & H5) & H6).
  rewrite forallb_forall in H3, H4.
  assert (Hw : wfb t 0 = true).
  { destruct Ht as [-> |[Ht|Ht]]; auto. apply (H4 _ Ht). }
  pose proof (wfb_pos _ _ _ Hw _ _ _ Hin) as Hp. eapply Forall_impl; [|apply Hp]. intros. apply HI. auto.
Qed.
