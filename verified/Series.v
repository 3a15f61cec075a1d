(* The first terms of the series of e^x, the last of them of an odd power, are below e^x, for every x. *)
From Coq Require Import Reals QArith Qround Qreals List Lra Lia ZArith Factorial.
From Dpaudit Require Import Releases_check.
Open Scope R_scope.

Definition P (n : nat) (x : R) : R := sum_f_R0 (fun j => x ^ j / INR (fact j)) n.
Definition D (n : nat) (x : R) : R := exp x - P n x.

Lemma P_derivative : forall n x, derivable_pt_lim (P (S n)) x (P n x).
Proof.
  assert (T : forall j x, derivable_pt_lim (fun x => x ^ S j / INR (fact (S j))) x (x ^ j / INR (fact j))).
  { intros j x. replace (x ^ j / INR (fact j)) with (/ INR (fact (S j)) * (INR (S j) * x ^ pred (S j))).
    - apply (derivable_pt_lim_ext (mult_real_fct (/ INR (fact (S j))) (fun x => x ^ S j))); [intros; unfold mult_real_fct; unfold Rdiv; ring|].
      apply derivable_pt_lim_scal. apply derivable_pt_lim_pow.
    - rewrite fact_simpl, mult_INR. simpl pred. field. split; [apply INR_fact_neq_0|apply not_0_INR; lia]. }
  induction n; intros x.
  - apply (derivable_pt_lim_ext (plus_fct (fct_cte 1) (fun x => x ^ 1 / INR (fact 1)))).
    + intros. unfold plus_fct, fct_cte, P. simpl. field.
    + replace (P 0 x) with (0 + x ^ 0 / INR (fact 0)) by (unfold P; simpl; field).
      apply derivable_pt_lim_plus; [apply derivable_pt_lim_const|apply T].
  - apply (derivable_pt_lim_ext (plus_fct (P (S n)) (fun x => x ^ S (S n) / INR (fact (S (S n)))))); [intros; unfold plus_fct; reflexivity|].
    change (P (S n) x) with (P n x + x ^ S n / INR (fact (S n))). apply derivable_pt_lim_plus; auto.
Qed.
Lemma D_derivative : forall n x, derivable_pt_lim (D (S n)) x (D n x).
Proof.
  intros. apply (derivable_pt_lim_ext (minus_fct exp (P (S n)))); [intros; reflexivity|].
  apply derivable_pt_lim_minus; [apply derivable_pt_lim_exp|apply P_derivative].
Qed.
Lemma D_0 : forall n, D n 0 = 0.
Proof.
  intros. unfold D. rewrite exp_0. assert (P n 0 = 1); [|lra]. unfold P. induction n; simpl; [field|].
  rewrite IHn. rewrite Rmult_0_l. unfold Rdiv. ring.
Qed.
Lemma between : forall n x y, x < y -> exists z, D (S n) y - D (S n) x = D n z * (y - x) /\ x < z < y.
Proof.
  intros n x y H. destruct (MVT_cor2 (D (S n)) (D n) x y H) as (z & E & Hz); [intros; apply D_derivative|]. eauto.
Qed.
Lemma signs : forall m, (forall x, 0 <= x -> 0 <= D (2 * m) x) /\ (forall x, x <= 0 -> D (2 * m) x <= 0) /\ (forall x, 0 <= D (S (2 * m)) x).
Proof.
  assert (Odd : forall m, (forall x, 0 <= x -> 0 <= D (2 * m) x) -> (forall x, x <= 0 -> D (2 * m) x <= 0) -> forall x, 0 <= D (S (2 * m)) x).
  { intros m A B x. destruct (Rtotal_order x 0) as [H|[->|H]].
    - destruct (between (2 * m) x 0 H) as (z & E & Hz). rewrite D_0 in E. specialize (B z ltac:(lra)).
      assert (D (2 * m) z * (0 - x) <= 0 * (0 - x)) by (apply Rmult_le_compat_r; lra). lra.
    - rewrite D_0. lra.
    - destruct (between (2 * m) 0 x H) as (z & E & Hz). rewrite D_0 in E. specialize (A z ltac:(lra)).
      assert (0 <= D (2 * m) z * (x - 0)) by (apply Rmult_le_pos; lra). lra. }
  assert (Even : forall m, (forall x, 0 <= D (S (2 * m)) x) ->
            (forall x, 0 <= x -> 0 <= D (2 * S m) x) /\ (forall x, x <= 0 -> D (2 * S m) x <= 0)).
  { intros m A. replace (2 * S m)%nat with (S (S (2 * m))) by lia. split; intros x Hx.
    - destruct Hx as [Hx|<-]; [|rewrite D_0; lra]. destruct (between (S (2 * m)) 0 x Hx) as (z & E & Hz). rewrite D_0 in E.
      assert (0 <= D (S (2 * m)) z * (x - 0)) by (apply Rmult_le_pos; [apply A|lra]). lra.
    - destruct Hx as [Hx| ->]; [|rewrite D_0; lra]. destruct (between (S (2 * m)) x 0 Hx) as (z & E & Hz). rewrite D_0 in E.
      assert (0 <= D (S (2 * m)) z * (0 - x)) by (apply Rmult_le_pos; [apply A|lra]). lra. }
  induction m as [|m IH].
  - assert (A : forall x, 0 <= x -> 0 <= D (2 * 0) x).
    { intros x Hx. unfold D, P. simpl. pose proof (exp_ineq1_le x). lra. }
    assert (B : forall x, x <= 0 -> D (2 * 0) x <= 0).
    { intros x Hx. unfold D, P. simpl. assert (exp x <= 1); [|lra]. rewrite <- exp_0. destruct Hx as [Hx| ->]; [left; apply exp_increasing; auto|lra]. }
    repeat split; auto.
  - destruct IH as (_ & _ & H). destruct (Even m H) as [A B]. repeat split; auto.
Qed.

Fixpoint exact (x : R) (k n : nat) : R := match n with O => 1 | S n' => 1 + x / INR k * exact x (Datatypes.S k) n' end.
Lemma exact_is : forall n k x, x ^ k / INR (fact k) * exact x (Datatypes.S k) n = sum_f_R0 (fun j => x ^ (k + j) / INR (fact (k + j))) n.
Proof.
  induction n; intros k x.
  - simpl. rewrite Nat.add_0_r. ring.
  - cbn [exact]. rewrite decomp_sum by lia. simpl pred. rewrite Nat.add_0_r.
    replace (sum_f_R0 (fun i => x ^ (k + S i) / INR (fact (k + S i))) n)
      with (sum_f_R0 (fun j => x ^ (S k + j) / INR (fact (S k + j))) n)
      by (apply sum_eq; intros; replace (k + S i)%nat with (S k + i)%nat by lia; reflexivity).
    rewrite <- (IHn (S k) x). rewrite fact_simpl, mult_INR. simpl pow.
    field. split; first [apply INR_fact_neq_0|apply not_0_INR; lia].
Qed.
Lemma exact_below : forall m x, exact x 1 (Datatypes.S (2 * m)) <= exp x.
Proof.
  intros m x. destruct (signs m) as (_ & _ & H). specialize (H x). unfold D, P in H. revert H. generalize (Datatypes.S (2 * m)). intros n H.
  pose proof (exact_is n 0 x) as E.
  assert (exact x 1 n = sum_f_R0 (fun j => x ^ j / INR (fact j)) n); [|lra].
  transitivity (sum_f_R0 (fun j => x ^ (0 + j) / INR (fact (0 + j))) n); [|reflexivity]. rewrite <- E. simpl pow. simpl fact. simpl INR. field.
Qed.

Lemma rounded_ok : forall x, Q2R (rounded false x) <= Q2R x <= Q2R (rounded true x).
Proof.
  assert (S : 0 < IZR (Zpos small)) by (apply IZR_lt; reflexivity).
  assert (F : forall x, IZR (Qfloor (x * (Zpos small # 1))) <= Q2R x * IZR (Zpos small)).
  { intros x. pose proof (Qfloor_le (x * (Zpos small # 1))) as F. apply Qle_Rle in F. rewrite Q2R_mult in F.
    assert (A : forall z, Q2R (z # 1) = IZR z) by (intros; unfold Q2R; simpl; field).
    unfold inject_Z in F. rewrite !A in F. auto. }
  assert (D : forall z, Q2R (z # small) * IZR (Zpos small) = IZR z) by (intros; unfold Q2R; cbn [Qnum Qden]; field; lra).
  intros x. unfold rounded. split; apply Rmult_le_reg_r with (IZR (Zpos small)); auto; rewrite D; auto.
  rewrite opp_IZR. specialize (F (- x)%Q). rewrite Q2R_opp in F. lra.
Qed.
Lemma series_ok : forall n k x, (0 < k)%nat -> Q2R (series false x k n) <= exact (Q2R x) k n <= Q2R (series true x k n).
Proof.
  induction n; intros k x Hk.
  - simpl. unfold Q2R. simpl. lra.
  - cbn [series exact]. specialize (IHn (S k) x ltac:(lia)).
    assert (K : forall y, Q2R (1 + x / (Z.of_nat k # 1) * y) = 1 + Q2R x / INR k * Q2R y).
    { intros y. rewrite Q2R_plus, Q2R_mult, Q2R_div by (unfold Qeq; simpl; lia).
      replace (Q2R (Z.of_nat k # 1)) with (INR k) by (rewrite INR_IZR_INZ; unfold Q2R; simpl; field).
      replace (Q2R 1) with 1 by (unfold Q2R; simpl; field). auto. }
    assert (Pk : 0 < / INR k) by (apply Rinv_0_lt_compat, lt_0_INR; auto).
    pose proof (fun y => rounded_ok (1 + x / (Z.of_nat k # 1) * y)) as R.
    destruct (Qle_bool 0 x) eqn:E; cbn [negb].
    + apply Qle_bool_iff, Qle_Rle in E. replace (Q2R 0) with 0 in E by (unfold Q2R; simpl; field).
      assert (0 <= Q2R x / INR k) by (apply Rmult_le_pos; lra).
      pose proof (R (series false x (S k) n)) as A. pose proof (R (series true x (S k) n)) as B. rewrite K in A, B.
      assert (Q2R x / INR k * Q2R (series false x (S k) n) <= Q2R x / INR k * exact (Q2R x) (S k) n) by (apply Rmult_le_compat_l; lra).
      assert (Q2R x / INR k * exact (Q2R x) (S k) n <= Q2R x / INR k * Q2R (series true x (S k) n)) by (apply Rmult_le_compat_l; lra). lra.
    + assert (N : Q2R x < 0).
      { apply Rnot_le_lt. intros H. assert (Qle_bool 0 x = true); [|congruence]. apply Qle_bool_iff, Rle_Qle.
        replace (Q2R 0) with 0 by (unfold Q2R; simpl; field). auto. }
      assert (Q2R x / INR k <= 0).
      { unfold Rdiv. assert (Q2R x * / INR k <= 0 * / INR k) by (apply Rmult_le_compat_r; lra). lra. }
      pose proof (R (series false x (S k) n)) as A. pose proof (R (series true x (S k) n)) as B. rewrite K in A, B.
      assert (Q2R x / INR k * exact (Q2R x) (S k) n <= Q2R x / INR k * Q2R (series false x (S k) n)) by (apply Rmult_le_compat_neg_l; lra).
      assert (Q2R x / INR k * Q2R (series true x (S k) n) <= Q2R x / INR k * exact (Q2R x) (S k) n) by (apply Rmult_le_compat_neg_l; lra). lra.
Qed.
Theorem below_exp_ok : forall x, Q2R (below_exp x) <= exp (Q2R x).
Proof.
  intros x. unfold below_exp, costly. cbv zeta. generalize (rounded_ok x). generalize (rounded false x). intros y [L _].
  assert (G : forall n m, n = Datatypes.S (2 * m) -> Q2R (series false y 1 n) <= exp (Q2R x)).
  { intros n m E. pose proof (exact_below m (Q2R y)) as B. rewrite <- E in B. pose proof (series_ok n 1 y ltac:(lia)) as [C _].
    apply Rle_trans with (exact (Q2R y) 1 n); auto. eapply Rle_trans; [exact B|].
    destruct L as [L|L]; [left; apply exp_increasing; auto|rewrite L; lra]. }
  destruct (_ && _)%bool; [apply (G 37%nat 18%nat)|apply (G 71%nat 35%nat)]; reflexivity.
Qed.
