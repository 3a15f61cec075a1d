(* The discrete Laplace law exists, and is lawful: for programs of whole-number noise the theorems assume nothing. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Coquelicot Require Import Coquelicot.
From Dpaudit Require Import Law Tree Shifts Farkas Fold Fold_sound Fold_private Tree_check Tree_private.
Import ListNotations.
Open Scope R_scope.

Section Law.
Variable b : R.
Hypothesis Hb : 0 < b.
Let p := exp (- / b).
Lemma p_between : 0 < p < 1.
Proof.
  unfold p. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. assert (0 < / b) by (apply Rinv_0_lt_compat; auto). lra.
Qed.
Definition up (f : R -> R) := Series (fun n => p ^ n * f (INR n)).
Definition dn (f : R -> R) := Series (fun n => p ^ n * f (- INR n - 1)).
Definition geo (f : R -> R) := (1 - p) / (1 + p) * (up f + p * dn f).

Lemma ex_b : forall g : nat -> R, (exists B, forall n, 0 <= g n <= B) -> ex_series (fun n => p ^ n * g n).
Proof.
  intros g [B H]. pose proof p_between as P. apply (@ex_series_le R_AbsRing R_CompleteNormedModule (fun n => p ^ n * g n) (fun n => B * p ^ n)).
  - intros n. change (norm (p ^ n * g n)) with (Rabs (p ^ n * g n)). specialize (H n).
    assert (0 <= p ^ n) by (apply pow_le; lra). rewrite Rabs_right; [|apply Rle_ge, Rmult_le_pos; lra].
    rewrite (Rmult_comm B). apply Rmult_le_compat_l; lra.
  - apply (@ex_series_scal R_AbsRing R_NormedModule B (fun n => p ^ n)). apply ex_series_geom. rewrite Rabs_right; lra.
Qed.
Lemma bnd : forall (f : R -> R) (h : nat -> R), bounded f -> exists B, forall n, 0 <= f (h n) <= B.
Proof. intros f h [B H]. exists B. intros. apply H. Qed.
Hint Resolve ex_b bnd : core.

Definition is_whole (x : R) := exists z : Z, x = IZR z.
Lemma whole_up : forall n, is_whole (INR n).
Proof. intros. exists (Z.of_nat n). apply INR_IZR_INZ. Qed.
Lemma whole_dn : forall n, is_whole (- INR n - 1).
Proof. intros. exists (- Z.of_nat n - 1)%Z. rewrite minus_IZR, opp_IZR, <- INR_IZR_INZ. auto. Qed.

Lemma c_pos : 0 < (1 - p) / (1 + p).
Proof. pose proof p_between. apply Rdiv_lt_0_compat; lra. Qed.
Lemma up_pos : forall f, bounded f -> 0 <= up f.
Proof.
  intros f H. unfold up. rewrite <- (Rmult_0_l (Series (fun n => p ^ n * f (INR n)))). rewrite <- Series_scal_l.
  apply Series_le; auto. intros n. destruct H as [B H]. specialize (H (INR n)). pose proof p_between.
  assert (0 <= p ^ n) by (apply pow_le; lra). assert (0 <= p ^ n * f (INR n)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma dn_pos : forall f, bounded f -> 0 <= dn f.
Proof.
  intros f H. unfold dn. rewrite <- (Rmult_0_l (Series (fun n => p ^ n * f (- INR n - 1)))). rewrite <- Series_scal_l.
  apply Series_le; [|apply (ex_b (fun n => f (- INR n - 1))); auto]. intros n. destruct H as [B H]. specialize (H (- INR n - 1)). pose proof p_between.
  assert (0 <= p ^ n) by (apply pow_le; lra). assert (0 <= p ^ n * f (- INR n - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma geo_mono : forall f g, bounded f -> bounded g -> (forall x, is_whole x -> f x <= g x) -> geo f <= geo g.
Proof.
  intros f g Hf Hg H. unfold geo. apply Rmult_le_compat_l; [left; apply c_pos|]. pose proof p_between as P.
  assert (forall n, 0 <= p ^ n) by (intros; apply pow_le; lra).
  assert (up f <= up g).
  { unfold up. apply Series_le; auto. intros n. destruct Hf as [B Hf]. specialize (Hf (INR n)). split.
    - apply Rmult_le_pos; auto; lra. - apply Rmult_le_compat_l; auto. apply H, whole_up. }
  assert (dn f <= dn g).
  { unfold dn. apply Series_le; [|apply (ex_b (fun n => g (- INR n - 1))); auto]. intros n. destruct Hf as [B Hf]. specialize (Hf (- INR n - 1)). split.
    - apply Rmult_le_pos; auto; lra. - apply Rmult_le_compat_l; auto. apply H, whole_dn. }
  assert (p * dn f <= p * dn g) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma geo_add : forall f g, bounded f -> bounded g -> geo (fun x => f x + g x) = geo f + geo g.
Proof.
  intros f g Hf Hg. unfold geo.
  assert (up (fun x => f x + g x) = up f + up g) as ->.
  { unfold up. rewrite <- Series_plus; auto. apply Series_ext. intros. ring. }
  assert (dn (fun x => f x + g x) = dn f + dn g) as ->.
  { unfold dn. rewrite <- Series_plus; [apply Series_ext; intros; ring|apply (ex_b (fun n => f (- INR n - 1))); auto|apply (ex_b (fun n => g (- INR n - 1))); auto]. }
  ring.
Qed.
Lemma geo_scale : forall c f, 0 <= c -> bounded f -> geo (fun x => c * f x) = c * geo f.
Proof.
  intros c f Hc Hf. unfold geo.
  assert (up (fun x => c * f x) = c * up f) as -> by (unfold up; rewrite <- Series_scal_l; apply Series_ext; intros; ring).
  assert (dn (fun x => c * f x) = c * dn f) as -> by (unfold dn; rewrite <- Series_scal_l; apply Series_ext; intros; ring).
  ring.
Qed.
Lemma geo_one : geo (fun _ => 1) = 1.
Proof.
  pose proof p_between as P. unfold geo, up, dn.
  assert (forall g : nat -> R, (forall n, g n = 1) -> Series (fun n => p ^ n * g n) = / (1 - p)) as G.
  { intros g Hg. rewrite <- Series_geom by (rewrite Rabs_right; lra). apply Series_ext. intros. rewrite Hg. ring. }
  rewrite !(G (fun _ => 1)) by auto. field. lra.
Qed.
Definition geometric : law := Law geo is_whole geo_mono geo_add geo_scale geo_one.

Lemma up_split : forall f, bounded f -> up f = f 0 + p * up (fun x => f (x + 1)).
Proof.
  intros f H. unfold up at 1. rewrite Series_incr_1 by auto. simpl pow at 1. simpl INR at 1. rewrite Rmult_1_l. f_equal.
  unfold up. rewrite <- Series_scal_l. apply Series_ext. intros n. rewrite S_INR. simpl. ring.
Qed.
Lemma dn_split : forall f, bounded f -> dn f = f (-1) + p * dn (fun x => f (x - 1)).
Proof.
  intros f H. unfold dn at 1. rewrite Series_incr_1 by (apply (ex_b (fun n => f (- INR n - 1))); auto). simpl pow at 1. simpl INR at 1.
  replace (- 0 - 1) with (-1) by ring. rewrite Rmult_1_l. f_equal.
  unfold dn. rewrite <- Series_scal_l. apply Series_ext. intros n. rewrite S_INR. replace (- (INR n + 1) - 1) with (- INR n - 1 - 1) by ring. simpl. ring.
Qed.

Lemma exp_inv : exp (/ b) = / p.
Proof. unfold p. rewrite exp_Ropp. rewrite Rinv_inv. auto. Qed.

Lemma geo_up : forall f, bounded f -> geo (fun x => f (x + 1)) <= exp (/ b) * geo f.
Proof.
  intros f H. pose proof p_between as P. pose proof c_pos as C. rewrite exp_inv.
  assert (H1 : bounded (fun x => f (x + 1))) by (apply (bounded_comp _ _ f (fun x => x + 1)); auto).
  pose proof (up_split f H) as U. pose proof (dn_split (fun x => f (x + 1)) H1) as D.
  cbv beta in D. replace (-1 + 1) with 0 in D by ring.
  assert (D2 : dn (fun x => f (x - 1 + 1)) = dn f) by (unfold dn; apply Series_ext; intros; f_equal; f_equal; ring).
  rewrite D2 in D. pose proof (dn_pos f H). assert (0 <= f 0) by (destruct H as [B H]; apply H).
  unfold geo. rewrite D. replace (up (fun x => f (x + 1))) with ((up f - f 0) / p) by (rewrite U; field; lra).
  assert (0 <= (1 - p) / (1 + p) * / p * ((1 - p * p) * (f 0 + p * dn f))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_pos; [assert (p * p < 1 * 1) by (apply Rmult_gt_0_lt_compat; lra); lra|].
    apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; lra. }
  apply Rminus_le. eapply Rle_trans; [|apply Ropp_le_cancel; rewrite Ropp_0, Ropp_involutive; apply H3]. right. field. lra.
Qed.
Lemma geo_down : forall f, bounded f -> geo (fun x => f (x - 1)) <= exp (/ b) * geo f.
Proof.
  intros f H. pose proof p_between as P. pose proof c_pos as C. rewrite exp_inv.
  assert (H1 : bounded (fun x => f (x - 1))) by (apply (bounded_comp _ _ f (fun x => x - 1)); auto).
  pose proof (up_split (fun x => f (x - 1)) H1) as U. pose proof (dn_split f H) as D.
  cbv beta in U. replace (0 - 1) with (-1) in U by ring.
  assert (U2 : up (fun x => f (x + 1 - 1)) = up f) by (unfold up; apply Series_ext; intros; f_equal; f_equal; ring).
  rewrite U2 in U. pose proof (up_pos f H).
  unfold geo. rewrite U. replace (dn (fun x => f (x - 1))) with ((dn f - f (-1)) / p) by (rewrite D; field; lra).
  assert (0 <= (1 - p) / (1 + p) * / p * ((1 - p * p) * up f)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_pos; [assert (p * p < 1 * 1) by (apply Rmult_gt_0_lt_compat; lra); lra|auto]. }
  apply Rminus_le. eapply Rle_trans; [|apply Ropp_le_cancel; rewrite Ropp_0, Ropp_involutive; apply H2]. right. field. lra.
Qed.

Lemma many : forall n f, bounded f ->
  geo (fun x => f (x + INR n)) <= exp (INR n / b) * geo f /\ geo (fun x => f (x - INR n)) <= exp (INR n / b) * geo f.
Proof.
  induction n; intros f H.
  - simpl. unfold Rdiv. rewrite Rmult_0_l, exp_0.
    assert (forall s, s = 0 -> geo (fun x => f (x + s)) = geo f) as G.
    { intros s ->. unfold geo, up, dn. f_equal. f_equal; [|f_equal]; apply Series_ext; intros; f_equal; f_equal; ring. }
    split; [rewrite (G 0); lra|]. replace (geo (fun x => f (x - 0))) with (geo f); [lra|].
    unfold geo, up, dn. f_equal. f_equal; [|f_equal]; apply Series_ext; intros; f_equal; f_equal; ring.
  - rewrite S_INR. replace ((INR n + 1) / b) with (INR n / b + / b) by (field; lra). rewrite exp_plus.
    assert (H1 : bounded (fun x => f (x + 1))) by (apply (bounded_comp _ _ f (fun x => x + 1)); auto).
    assert (H2 : bounded (fun x => f (x - 1))) by (apply (bounded_comp _ _ f (fun x => x - 1)); auto).
    destruct (IHn _ H1) as [A _]. destruct (IHn _ H2) as [_ B].
    pose proof (geo_up f H). pose proof (geo_down f H). pose proof (exp_pos (INR n / b)).
    split.
    + replace (geo (fun x => f (x + (INR n + 1)))) with (geo (fun x => f (x + INR n + 1))).
      * eapply Rle_trans; [apply A|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
      * unfold geo, up, dn. f_equal. f_equal; [|f_equal]; apply Series_ext; intros; f_equal; f_equal; ring.
    + replace (geo (fun x => f (x - (INR n + 1)))) with (geo (fun x => f (x - INR n - 1))).
      * eapply Rle_trans; [apply B|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
      * unfold geo, up, dn. f_equal. f_equal; [|f_equal]; apply Series_ext; intros; f_equal; f_equal; ring.
Qed.

Lemma geometric_shift : forall z : Z, shift_ok geometric (IZR z) (Rabs (IZR z) / b).
Proof.
  intros z f H. simpl. destruct (many (Z.abs_nat z) f H) as [A B]. rewrite INR_IZR_INZ, Zabs2Nat.id_abs in A, B.
  rewrite <- abs_IZR.
  assert (G : IZR z = IZR (Z.abs z) \/ IZR z = - IZR (Z.abs z)).
  { destruct (Z.abs_or_opp_abs z) as [E1|E1]; [left|right; rewrite <- opp_IZR]; f_equal; auto. }
  revert A B G. generalize (IZR (Z.abs z)). intros r A B [-> | ->]; auto.
Qed.
End Law.

(* ---- programs of discrete Laplace noise ---- *)
Definition certain : law.
Proof. refine (Law (fun f => f 0) (fun x => x = 0) _ _ _ _); intros; auto. Defined.
Definition discrete_noise (d : draw) : law :=
  match Rlt_dec 0 (Q2R (db d)) with left H => geometric (Q2R (db d)) H | right _ => certain end.

Lemma discrete_lawful : forall d, 0 < Q2R (db d) -> dm d = DLaplace -> lawful1 discrete_noise d.
Proof.
  intros d Hd Hm. unfold lawful1, discrete_noise, allowed. destruct (Rlt_dec 0 (Q2R (db d))); [|contradiction]. rewrite Hm. split.
  - intros x [z ->]. unfold cost1. apply geometric_shift.
  - split; [intros x [z ->]; exists z; auto|]. intros N. contradiction.
Qed.

Fixpoint all_whole {L} (t : tree L) : bool :=
  match t with
  | Leaf _ | Nil => true | Draw d t' => discreteb d && all_whole t' | Br _ a b => all_whole a && all_whole b
  end.
Lemma all_whole_leaves : forall L (t : tree L), all_whole t = true -> forall ds cs l, In (ds, cs, l) (leaves t) ->
  List.Forall (fun d => dm d = DLaplace) ds.
Proof.
  induction t; simpl; intros H ds c l' Hin.
  - destruct Hin as [Hin|[]]. inversion Hin; subst. constructor.
  - apply andb_true_iff in H. destruct H as [H1 H2]. apply in_map_iff in Hin. destruct Hin as [[[ds' cs'] l''] [He Hi]].
    inversion He; subst. constructor; [|eapply IHt; eauto]. unfold discreteb in H1. destruct (dm d); auto; discriminate.
  - rewrite andb_true_iff in H. destruct H as [H1 H2]. apply in_app_iff in Hin. destruct Hin as [Hin|Hin].
    + apply in_map_iff in Hin. destruct Hin as [[[ds' cs'] l''] [He Hi]]. inversion He; subst. eapply IHt1; eauto.
    + eapply IHt2; eauto.
  - contradiction.
Qed.

(* Nothing is assumed here: the law is the discrete Laplace law itself. *)
Theorem discrete_tree_private : forall c, check_tree c = true -> all_whole (tprogram c) = true -> forall x y f,
  tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> bounded f ->
  tree_mechanism discrete_noise (tprogram c) x f <= exp (Q2R (tbound c)) * tree_mechanism discrete_noise (tprogram c) y f.
Proof.
  intros c Hc Hw x y f Hn Hf. apply tree_private_on; auto.
  intros ds cs l Hin. pose proof (all_whole_leaves _ _ Hw _ _ _ Hin) as Hd.
  unfold check_tree in Hc. rewrite !andb_true_iff in Hc. destruct Hc as (((_ & Hf0) & _) & _).
  pose proof (wfb_pos _ _ _ Hf0 _ _ _ Hin) as Hp. rewrite List.Forall_forall in *. intros d Hi. apply discrete_lawful; auto.
Qed.
