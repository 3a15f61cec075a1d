(* The theorem for folds: an accepted certificate bounds the privacy loss for data of every length. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null Fold.
Import ListNotations.
Open Scope R_scope.

Lemma Q2R_inject_Z : forall z, Q2R (inject_Z z) = IZR z.
Proof. intros. unfold Q2R, inject_Z; simpl. rewrite Rinv_1. ring. Qed.

Lemma wfb_wf : forall L (t : tree L) n, wfb t n = true -> wf t n.
Proof.
  induction t; simpl; intros; auto.
  - apply andb_true_iff in H. apply IHt. apply H.
  - rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3]. repeat split; auto.
    apply Forall_forall. intros c Hc. rewrite forallb_forall in H1. apply Nat.leb_le. apply H1; auto.
Qed.

Lemma wfb_pos : forall L (t : tree L) n, wfb t n = true -> forall ds cs l, In (ds, cs, l) (leaves t) ->
  Forall (fun d => 0 < Q2R (db d)) ds.
Proof.
  induction t; simpl; intros n H ds c l' Hin.
  - destruct Hin as [Hin|[]]. inversion Hin; subst. constructor.
  - apply andb_true_iff in H. destruct H as [H1 H2]. apply in_map_iff in Hin. destruct Hin as [[[ds' cs'] l''] [He Hi]].
    inversion He; subst. constructor; [apply pos_R; auto|]. eapply IHt; eauto.
  - rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3]. apply in_app_iff in Hin. destruct Hin as [Hin|Hin].
    + apply in_map_iff in Hin. destruct Hin as [[[ds' cs'] l''] [He Hi]]. inversion He; subst. eapply IHt1; eauto.
    + eapply IHt2; eauto.
  - contradiction.
Qed.

Lemma good_at : forall ds rows eqs c differences_at es needed n, Forall (fun d => 0 < Q2R (db d)) ds ->
  covers ds rows eqs c differences_at es needed = true -> In n needed -> good ds rows eqs (Q2R c) (map Q2R (differences_at n)).
Proof.
  intros ds rows eqs c differences_at es needed n Hp H Hin. unfold covers in H. rewrite forallb_forall in H. specialize (H n Hin).
  apply existsb_exists in H. destruct H as (e & _ & H). apply andb_true_iff in H. destruct H as [_ H].
  exists (map Q2R (shift e)). apply keepsQ_sound; auto.
Qed.

Lemma rate_head : forall e d d' dl dv, rate e (d :: dl) dv = rate e (d' :: dl) dv + Q2R (head e) * (d - d').
Proof.
  intros [c l h] d d' dl dv. unfold rate, head; simpl. destruct l; simpl; [rewrite RMicromega.Q2R_0|]; ring.
Qed.

Lemma ints_in : forall a b z, (a <= z <= b)%Z -> In (inject_Z z) (ints a b).
Proof.
  intros a b z H. unfold ints. apply in_map_iff. exists (Z.to_nat (z - a)). split.
  - f_equal. rewrite Z2Nat.id; lia.
  - apply in_seq. split; [lia|]. simpl. apply Z2Nat.inj_lt; lia.
Qed.

Lemma not_discrete : forall ds, existsb discreteb ds = false -> Forall continuous ds.
Proof.
  induction ds; simpl; intros H; constructor; apply orb_false_iff in H; destruct H; auto.
  unfold discreteb, continuous in *. destruct (dm a); auto. discriminate.
Qed.

Lemma worst_good : forall m ds rows eqs needed c dl d, Forall (fun x => 0 < Q2R (db x)) ds ->
  worst m ds rows eqs = Some needed -> (forall n, In n needed -> good ds rows eqs c (Q2R n :: dl)) -> moves m d ->
  good ds rows eqs c (d :: dl).
Proof.
  intros m ds rows eqs needed c dl d Hp Hw Hg [Hm Hz]. unfold worst in Hw.
  destruct (low rows eqs) eqn:L; [|destruct (high rows eqs) eqn:U].
  - inversion Hw; subst. destruct (Hg _ (or_introl eq_refl)) as (dv & A & C & R1 & E1). rewrite Q2R_inject_Z in *.
    unfold low in L. apply andb_true_iff in L. destruct L as [L1 L2]. rewrite forallb_forall in L1, L2.
    exists dv. repeat split; auto; apply Forall_forall; intros e He; rewrite Forall_forall in R1, E1.
    + specialize (R1 e He). specialize (L1 e He). apply Qle_bool_R in L1. rewrite RMicromega.Q2R_0 in L1.
      rewrite (rate_head e d (IZR (lo m))). assert (0 <= Q2R (head e) * (d - IZR (lo m))) by (apply Rmult_le_pos; lra).
      simpl in *. lra.
    + specialize (E1 e He). specialize (L2 e He). apply Qeq_bool_R in L2. rewrite RMicromega.Q2R_0 in L2.
      unfold ev in *. rewrite (rate_head e d (IZR (lo m))), L2. simpl in *. lra.
  - inversion Hw; subst. destruct (Hg _ (or_introl eq_refl)) as (dv & A & C & R1 & E1). rewrite Q2R_inject_Z in *.
    unfold high in U. apply andb_true_iff in U. destruct U as [L1 L2]. rewrite forallb_forall in L1, L2.
    exists dv. repeat split; auto; apply Forall_forall; intros e He; rewrite Forall_forall in R1, E1.
    + specialize (R1 e He). specialize (L1 e He). apply Qle_bool_R in L1. rewrite RMicromega.Q2R_0 in L1.
      rewrite (rate_head e d (IZR (hi m))).
      assert (0 <= - Q2R (head e) * (IZR (hi m) - d)) by (apply Rmult_le_pos; lra). simpl in *. lra.
    + specialize (E1 e He). specialize (L2 e He). apply Qeq_bool_R in L2. rewrite RMicromega.Q2R_0 in L2.
      unfold ev in *. rewrite (rate_head e d (IZR (hi m))), L2. simpl in *. lra.
  - destruct (existsb discreteb ds) eqn:Dx.
    + destruct (whole m) eqn:W; [|discriminate]. inversion Hw; subst.
      destruct (Hz eq_refl) as [z ->]. rewrite <- Q2R_inject_Z. apply Hg. apply ints_in.
      destruct Hm as [H1 H2]. apply le_IZR in H1. apply le_IZR in H2. auto.
    + inversion Hw; subst. apply not_discrete in Dx.
      pose proof (Hg _ (or_introl eq_refl)) as G1. pose proof (Hg _ (or_intror (or_introl eq_refl))) as G2.
      rewrite Q2R_inject_Z in *.
      destruct (Req_dec (IZR (lo m)) (IZR (hi m))) as [Eq|Ne].
      * replace d with (IZR (lo m)) by lra. auto.
      * set (t := (d - IZR (lo m)) / (IZR (hi m) - IZR (lo m))).
        assert (Ht : 0 <= t <= 1).
        { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
          apply Rmult_le_reg_r with (IZR (hi m) - IZR (lo m)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
        assert (Hmix : mix t (IZR (lo m) :: dl) (IZR (hi m) :: dl) = d :: dl).
        { simpl. f_equal.
          - unfold t. field. lra.
          - clear. induction dl; simpl; auto. rewrite IHdl. f_equal. ring. }
        rewrite <- Hmix. apply good_mix; auto.
Qed.

(* Where the answers move by at most k in sum, a step of which spent of k is gone before, and |d| of it goes here, is
   (k - spent - |d|)/k of a step before the answer that moves by k, |d|/k of that of this answer, and spent/k of a step
   after it: shifts are mixed with these weights, and so are their costs. *)
Definition mixed (mu a b : R) : R := (1 - mu) * a + mu * b.
Lemma spent_good : forall m ds rows eqs needed dl b0 b1 c0 c1 spent d, Forall (fun x => 0 < Q2R (db x)) ds ->
  lo m = (- hi m)%Z -> (0 < hi m)%Z -> (existsb discreteb ds = true -> whole m = true /\ hi m = 1%Z) ->
  worst m ds rows eqs = Some needed -> (forall n, In n needed -> good ds rows eqs (b0 - c1) (Q2R n :: dl)) ->
  good ds rows eqs (b0 - c0) (0 :: dl) -> good ds rows eqs (b1 - c1) (0 :: dl) ->
  0 <= spent -> spent + Rabs d <= IZR (hi m) -> (whole m = true -> exists z, spent = IZR z) -> moves m d ->
  good ds rows eqs (mixed (spent / IZR (hi m)) b0 b1 - mixed ((spent + Rabs d) / IZR (hi m)) c0 c1) (d :: dl).
Proof.
  intros m ds rows eqs needed dl b0 b1 c0 c1 spent d Hp Hlo Hhi Hdisc Hw Hn G0 G1 H0 Hs Hz Hm.
  assert (K : 0 < IZR (hi m)) by (apply IZR_lt; auto). set (k := IZR (hi m)) in *. unfold mixed.
  assert (Still : forall mu, 0 <= mu <= 1 -> existsb discreteb ds = false ->
    good ds rows eqs ((1 - mu) * (b0 - c0) + mu * (b1 - c1)) (0 :: dl)).
  { intros mu Hmu Hc. pose proof (good_mix_costs ds rows eqs _ _ mu _ _ Hmu Hp (not_discrete _ Hc) eq_refl G0 G1) as G.
    rewrite mix_same in G. auto. }
  destruct (Req_dec d 0) as [-> |Nd].
  - rewrite Rabs_R0 in *.
    assert (Hmu : 0 <= spent / k <= 1).
    { split; [apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]|].
      apply Rmult_le_reg_r with k; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    rewrite Rplus_0_r in *.
    replace ((1 - spent / k) * b0 + spent / k * b1 - ((1 - spent / k) * c0 + spent / k * c1))
      with ((1 - spent / k) * (b0 - c0) + spent / k * (b1 - c1)) by ring.
    destruct (existsb discreteb ds) eqn:Dx; [|apply Still; auto].
    destruct (Hdisc eq_refl) as [W One]. destruct (Hz W) as [z Ez].
    assert (Ek : k = 1) by (unfold k; rewrite One; auto). rewrite Ek in *. rewrite Ez in *.
    apply le_IZR in H0. apply le_IZR in Hs. assert (z = 0 \/ z = 1)%Z as [-> | ->] by lia.
    + replace ((1 - 0 / 1) * (b0 - c0) + 0 / 1 * (b1 - c1)) with (b0 - c0) by field. auto.
    + replace ((1 - 1 / 1) * (b0 - c0) + 1 / 1 * (b1 - c1)) with (b1 - c1) by field. auto.
  - pose proof (Rabs_pos_lt d Nd) as Pd.
    set (w := Rabs d / k). set (e := if Rcase_abs d then - k else k).
    assert (We : w * e = d) by (unfold w, e, Rabs; destruct (Rcase_abs d); field; lra).
    assert (Hw1 : 0 < w <= 1).
    { unfold w. split; [apply Rmult_lt_0_compat; [auto|apply Rinv_0_lt_compat; auto]|].
      apply Rmult_le_reg_r with k; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (Ge : good ds rows eqs (b0 - c1) (e :: dl)).
    { apply (worst_good m ds rows eqs needed); auto. unfold moves. rewrite Hlo, opp_IZR. fold k. split.
      - unfold e. destruct (Rcase_abs d); lra.
      - intros _. unfold e, k. destruct (Rcase_abs d); [exists (- hi m)%Z; rewrite opp_IZR; auto|exists (hi m); auto]. }
    destruct (Req_dec w 1) as [E1|N1].
    + assert (Ed : e = d) by (rewrite <- We, E1; ring).
      assert (Ra : Rabs d = k) by (unfold w in E1; apply Rmult_eq_reg_r with (/ k); [rewrite Rinv_r by lra; auto|apply Rinv_neq_0_compat; lra]).
      assert (spent = 0) as -> by lra. rewrite Ra, <- Ed.
      replace ((1 - 0 / k) * b0 + 0 / k * b1 - ((1 - (0 + k) / k) * c0 + (0 + k) / k * c1)) with (b0 - c1) by (field; lra). auto.
    + assert (Dx : existsb discreteb ds = false).
      { destruct (existsb discreteb ds) eqn:Dx; auto. exfalso. destruct (Hdisc eq_refl) as [W One].
        destruct Hm as [_ Hm]. destruct (Hm W) as [z ->]. apply N1. unfold w, k in *. rewrite One in *.
        rewrite <- abs_IZR in *. apply lt_IZR in Pd.
        assert (IZR (Z.abs z) <= 1) by lra. apply le_IZR in H. replace (Z.abs z) with 1%Z by lia. field. }
      set (t := spent / k / (1 - w)).
      assert (Ht : 0 <= t <= 1).
      { unfold t. split.
        - apply Rmult_le_pos; [apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]|left; apply Rinv_0_lt_compat; lra].
        - apply Rmult_le_reg_r with (1 - w); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
          apply Rmult_le_reg_r with k; auto. unfold w, Rdiv. rewrite Rmult_1_r, Rmult_1_l, Rmult_minus_distr_r, !Rmult_assoc, Rinv_l by lra. lra. }
      pose proof (good_mix_costs ds rows eqs _ _ w (0 :: dl) (e :: dl) ltac:(lra) Hp (not_discrete _ Dx) eq_refl (Still t Ht Dx) Ge) as G.
      simpl in G. rewrite mix_same, We in G.
      replace ((1 - spent / k) * b0 + spent / k * b1 - ((1 - (spent + Rabs d) / k) * c0 + (spent + Rabs d) / k * c1))
        with ((1 - w) * ((1 - t) * (b0 - c0) + t * (b1 - c1)) + w * (b0 - c1)).
      { replace (d :: dl) with (((1 - w) * 0 + d) :: dl) by (f_equal; ring). auto. }
      unfold t. replace ((spent + Rabs d) / k) with (spent / k + w) by (unfold w; field; lra). field. lra.
Qed.

(* What is emitted and the new numbers, of a run and of the shifted one. *)
Lemma emit_same : forall cs l dist env de r dv, length env = length de -> length r = length dv ->
  Forall (fun e => ev e de dv = 0) (equalities cs ++ map without (released l) ++ dist) ->
  emit l (vadd env de) (vadd r dv) = emit l env r.
Proof.
  intros cs l dist env de r dv L1 L2 H. unfold emit. f_equal. apply map_ext_in. intros e He.
  rewrite ev_vadd by auto. rewrite Forall_forall in H. specialize (H (without e)).
  assert (G : ev (without e) de dv = 0) by (apply H; apply in_or_app; right; apply in_or_app; left; apply in_map; auto).
  unfold ev, without, rate in *; simpl in *. rewrite RMicromega.Q2R_0 in G. lra.
Qed.

Lemma fresh_moves : forall l dist env de r dv, length env = length de -> length r = length dv ->
  length (new l) = length dist -> Forall (fun e => ev e de dv = 0) (keep (new l) dist) ->
  fresh l (vadd env de) (vadd r dv) = vadd (fresh l env r) (map Q2R dist).
Proof.
  intros l dist env de r dv L1 L2. unfold fresh. generalize (new l). intros es. revert dist.
  induction es; intros dist Hl H; destruct dist; simpl in *; auto; try discriminate.
  inversion H; subst. f_equal.
  - rewrite ev_vadd by auto. unfold ev, rate in *. cbn [lc le lh] in *. rewrite Q2R_opp in H2. lra.
  - apply IHes; auto.
Qed.

Lemma equalities_in : forall cs e, In (Ceq e) cs -> In (without e) (equalities cs).
Proof.
  intros. unfold equalities. apply in_flat_map. exists (Ceq e). split; auto. simpl. auto.
Qed.

Section Sound.
Variable I : draw -> law.
Variable F : fold.
(* The laws of the draws of F are lawful. *)
Hypothesis HL : forall t ds cs l, t = init F \/ In t (steps F) \/ In (Some t) (ends F) -> In (ds, cs, l) (leaves t) ->
  Forall (lawful1 I) ds.

Lemma lawful_step : forall k ds cs l, In (ds, cs, l) (leaves (nth k (steps F) Nil)) -> Forall (lawful1 I) ds.
Proof.
  intros k ds cs l H. destruct (nth_in_or_default k (steps F) Nil) as [Hin|En]; [|rewrite En in H; contradiction].
  eapply HL; eauto.
Qed.
Lemma lawful_end : forall k t ds cs l, nth k (ends F) None = Some t -> In (ds, cs, l) (leaves t) -> Forall (lawful1 I) ds.
Proof.
  intros k t ds cs l E H. destruct (nth_in_or_default k (ends F) None) as [Hin|En]; [|congruence].
  rewrite E in Hin. eapply HL; eauto.
Qed.

Definition ranged (B : R) {A} (f : A -> R) := forall x, 0 <= f x <= B.

Lemma wt_nth : forall (ts : list (tree fleaf)) k, wt (nth k ts Nil) <= lsum wt ts.
Proof.
  induction ts; destruct k; simpl; try lra.
  - pose proof (wt_pos _ a). assert (0 <= lsum wt ts) by (clear; induction ts; simpl; [lra|pose proof (wt_pos _ a); lra]). lra.
  - specialize (IHts k). pose proof (wt_pos _ a). lra.
Qed.
Definition wo (o : option (tree fleaf)) := match o with None => 1 | Some t => wt t end.
Lemma wo_pos : forall o, 0 <= wo o. Proof. destruct o; simpl; [apply wt_pos|lra]. Qed.
Lemma wo_nth : forall (ts : list (option (tree fleaf))) k, wo (nth k ts None) <= 1 + lsum wo ts.
Proof.
  induction ts; destruct k; simpl; try lra.
  - assert (0 <= lsum wo ts) by (clear; induction ts; simpl; [lra|pose proof (wo_pos a); lra]). lra.
  - specialize (IHts k). pose proof (wo_pos a). lra.
Qed.

Lemma go_range : forall data B, 0 <= B -> exists B', 0 <= B' /\ forall f, ranged B f -> forall k s, 0 <= go I F data k s f <= B'.
Proof.
  induction data; intros B HB.
  - exists ((1 + lsum wo (ends F)) * B). split.
    + apply Rmult_le_pos; auto. pose proof (wo_nth (ends F) 0). pose proof (wo_pos (nth 0 (ends F) None)). lra.
    + intros f Hf k s. simpl. pose proof (wo_nth (ends F) k) as W. destruct (nth k (ends F) None) as [t|]; simpl in W.
      * pose proof (run_range I _ t s [] (fun l hs => f [emit l s hs]) B (fun l r => Hf _)) as [H1 H2]. split; auto.
        eapply Rle_trans; [apply H2|]. apply Rmult_le_compat_r; lra.
      * pose proof (Hf []) as [H1 H2]. split; auto. apply Rle_trans with (1 * B); [lra|]. apply Rmult_le_compat_r; lra.
  - destruct (IHdata B HB) as (B' & HB' & IH).
    exists (lsum wt (steps F) * (B + B')). split.
    + apply Rmult_le_pos; [|lra]. pose proof (wt_nth (steps F) 0). pose proof (wt_pos _ (nth 0 (steps F) Nil)). lra.
    + intros f Hf k s. simpl.
      assert (HF : forall (l : fleaf) (r : list R), 0 <= match next l with
               | None => f [emit l (a :: s) r]
               | Some k' => go I F data k' (fresh l (a :: s) r) (fun tr => f (emit l (a :: s) r :: tr)) end <= B + B').
      { intros. destruct (next l).
        - assert (G : ranged B (fun tr => f (emit l (a :: s) r :: tr))) by (intro; apply Hf).
          specialize (IH _ G n (fresh l (a :: s) r)). lra.
        - specialize (Hf [emit l (a :: s) r]). lra. }
      pose proof (run_range I _ (nth k (steps F) Nil) (a :: s) [] _ _ HF) as [H1 H2]. split; auto.
      eapply Rle_trans; [apply H2|]. apply Rmult_le_compat_r; [lra|apply wt_nth].
Qed.

Variable bound : Q.
Variable j : nat.
Variable c : case.
Hypothesis Hok : check_case F bound j c = true.

Let dist := map Q2R (distances c).
(* What may still be lost from state k on, where a share mu of what may move has moved. *)
Definition left_at (mu : R) (k : option nat) : R := mixed mu (Q2R (left_from c false k)) (Q2R (left_from c true k)).

Lemma parts_ok :
  (forall m k, 0 <= Q2R (left_from c m k)) /\ wfb (init F) 0 = true /\ (forall k, wfb (nth k (steps F) Nil) 0 = true) /\
  (forall k t, nth k (ends F) None = Some t -> wfb t 0 = true) /\
  (forall p, In p (leaves (init F)) -> init_ok c j bound p = true) /\
  (forall k p, In p (leaves (nth k (steps F) Nil)) -> step_ok c j k p = true) /\
  (forall k t p, nth k (ends F) None = Some t -> In p (leaves t) -> end_ok c j k p = true).
Proof.
  unfold check_case in Hok. rewrite !andb_true_iff in Hok. destruct Hok as ((((((H0 & H1) & H2) & H3) & H4) & H5) & H6).
  rewrite forallb_forall in H1, H3, H4, H5, H6.
  split; [|split; [|split; [|split; [|split; [|split]]]]]; auto.
  - intros m k. unfold left_from. destruct k as [k|]; [|rewrite RMicromega.Q2R_0; lra].
    destruct (nth_in_or_default k (allowances c) (0%Q, 0%Q)) as [Hin| ->].
    + specialize (H1 _ Hin). apply andb_true_iff in H1. destruct H1 as [G1 G2]. apply Qle_bool_R in G1, G2.
      rewrite RMicromega.Q2R_0 in *. destruct m; auto.
    + destruct m; simpl; rewrite RMicromega.Q2R_0; lra.
  - intros k. destruct (nth_in_or_default k (steps F) Nil) as [Hin| ->]; auto.
  - intros k t Ht. destruct (nth_in_or_default k (ends F) None) as [Hin|En]; [|rewrite Ht in En; discriminate].
    rewrite Ht in Hin. apply (H4 _ Hin).
  - intros k p Hp. destruct (le_lt_dec (length (steps F)) k) as [Hk|Hk].
    + rewrite nth_overflow in Hp by auto. contradiction.
    + assert (Hs : In k (seq 0 (Nat.max (length (steps F)) (length (ends F))))) by (apply in_seq; lia).
      specialize (H6 k Hs). apply andb_true_iff in H6. destruct H6 as [H6 _]. rewrite forallb_forall in H6. auto.
  - intros k t p Ht Hp. destruct (le_lt_dec (length (ends F)) k) as [Hk|Hk].
    + rewrite nth_overflow in Ht by auto. discriminate.
    + assert (Hs : In k (seq 0 (Nat.max (length (steps F)) (length (ends F))))) by (apply in_seq; lia).
      specialize (H6 k Hs). apply andb_true_iff in H6. destruct H6 as [_ H6]. rewrite Ht in H6.
      rewrite forallb_forall in H6. auto.
Qed.

Lemma exp_ge_1 : forall x, 0 <= x -> 1 <= exp x.
Proof. intros. rewrite <- exp_0. destruct H as [H|<-]; [left; apply exp_increasing; auto|lra]. Qed.
Lemma exp_le : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H| ->]; [left; apply exp_increasing; auto|lra]. Qed.

(* A leaf of which the rest is aligned at the allowance v, and that has a shift of cost at most V - v. *)
Lemma live : forall ds cs (l : fleaf) rest env de G G' B B' V v,
  Forall (fun d => 0 < Q2R (db d)) ds -> Forall (lawful1 I) ds ->
  (forall l r, 0 <= G l r <= B) -> (forall l r, 0 <= G' l r <= B') ->
  length env = length de ->
  good ds (map lin_of cs) (equalities cs ++ map without (released l) ++ rest) (V - v) de ->
  (forall r dv, length r = length dv -> Forall (fun e => ev e de dv = 0) (equalities cs ++ map without (released l) ++ rest) ->
     G l r <= exp v * G' l (vadd r dv)) ->
  term I env [] G (ds, cs, l) <= exp V * term I (vadd env de) [] G' (ds, cs, l).
Proof.
  intros ds cs l rest env de G G' B B' V v Hp Hw HG HG' Hl Hg Hr.
  destruct (good_keeps cs _ ds (V - v) de Hg) as (dv & A & C & E1 & K).
  { intros e He. apply in_or_app. left. apply equalities_in. auto. }
  apply (leaf_shift I _ ds cs l env (vadd env de) G G' B B' V (cost ds dv) dv); auto.
  - apply lawful_shiftable; auto.
  - intros r Hs Ha. assert (Lr : length r = length ds) by (symmetry; eapply Forall2_length; eauto).
    assert (Ld : length ds = length dv) by (eapply Forall2_length; eauto).
    split; [apply K; auto|]. eapply Rle_trans; [apply (Hr r dv); [congruence|auto]|].
    apply Rmult_le_compat_r; [apply HG'|]. apply exp_le. lra.
Qed.

Lemma vadd_cons : forall x y a b, vadd (x :: a) (y :: b) = (x + y) :: vadd a b.
Proof. reflexivity. Qed.

Let most := IZR (hi (way c)).
Definition stands (spent : R) : Prop :=
  summed (way c) = true -> 0 <= spent <= most /\ (whole (way c) = true -> exists z : Z, spent = IZR z).
Definition share (spent : R) : R := if summed (way c) then spent / most else 0.

Lemma summed_form : summed (way c) = true -> lo (way c) = (- hi (way c))%Z /\ (0 < hi (way c))%Z.
Proof.
  intros S. unfold check_case in Hok. rewrite !andb_true_iff in Hok. destruct Hok as ((((((H0 & _) & _) & _) & _) & _) & _).
  rewrite S in H0. simpl in H0. apply andb_true_iff in H0. destruct H0 as [A B].
  apply Z.eqb_eq in A. apply Z.ltb_lt in B. auto.
Qed.
Lemma share_range : forall spent, stands spent -> 0 <= share spent <= 1.
Proof.
  intros spent H. unfold share. destruct (summed (way c)) eqn:S; [|lra]. destruct (H S) as [Hs _].
  destruct (summed_form S) as [_ P]. apply IZR_lt in P. fold most in P. split.
  - apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; auto].
  - apply Rmult_le_reg_r with most; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma mixed_between : forall mu a b, 0 <= mu <= 1 -> a <= mixed mu a b \/ b <= mixed mu a b.
Proof.
  intros mu a b H. unfold mixed. destruct (Rle_dec a b).
  - left. assert (0 <= mu * (b - a)) by (apply Rmult_le_pos; lra). lra.
  - right. assert (0 <= (1 - mu) * (a - b)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma left_at_zero : forall k, left_at 0 k = Q2R (left_from c false k).
Proof. intros. unfold left_at, mixed. ring. Qed.
Lemma share_none : share 0 = 0.
Proof. unfold share. destruct (summed (way c)); unfold Rdiv; ring. Qed.
Lemma left_at_none : forall mu, left_at mu None = 0.
Proof. intros. unfold left_at, mixed. simpl. rewrite RMicromega.Q2R_0. ring. Qed.

Lemma go_align : forall data deltas spent k s f,
  stands spent -> length deltas = length data -> apart (way c) spent deltas ->
  length s = length dist -> bounded f ->
  go I F data k s f <= exp (left_at (share spent) (Some k)) * go I F (vadd data deltas) k (vadd s dist) f.
Proof.
  destruct parts_ok as (Hnn & _ & Hws & Hwe & _ & Hstep & Hend). pose proof lawful_end as Hle. pose proof lawful_step as Hls'.
  induction data; intros deltas spent k s f Hmo Hlen Hap Hls [B Hf]; destruct deltas as [|d deltas]; try discriminate; cbn [go vadd].
  - pose proof (Hwe k) as Hw. pose proof (Hend k) as He. pose proof (Hle k) as Hl1. destruct (nth k (ends F) None) as [t|].
    + apply (align I _ t s (vadd s dist) _ _ B B); [intros; apply Hf|intros; apply Hf|apply wfb_wf; auto|].
      intros [[ds cs] l] Hin. assert (Hp := wfb_pos _ _ _ (Hw t eq_refl) _ _ _ Hin). assert (Hq := Hl1 t _ _ _ eq_refl Hin).
      specialize (He t _ eq_refl Hin). unfold end_ok in He. destruct (dead l) as [v|] eqn:Dl.
      * apply (leaf_never I _ _ _ _ _ _ _ _ B B _ v); [auto|intros; apply Hf|intros; apply Hf|auto].
      * apply orb_true_iff in He. destruct He as [He|He].
        { apply (leaf_null I _ _ _ _ _ _ _ _ B B); [auto|intros; apply Hf|intros; apply Hf|auto]. }
        rewrite forallb_forall in He.
        assert (G : good ds (map lin_of cs) (equalities cs ++ map without (released l)) (left_at (share spent) (Some k)) dist).
        { assert (At : forall m, In m (flags (way c)) -> good ds (map lin_of cs) (equalities cs ++ map without (released l))
            (Q2R (left_from c m (Some k))) dist).
          { intros m Hm. exact (good_at _ _ _ _ _ _ _ 0%Q Hp (He m Hm) (or_introl eq_refl)). }
          unfold flags in At. unfold share. destruct (summed (way c)) eqn:S.
          - pose proof (share_range spent Hmo) as R0. unfold share in R0. rewrite S in R0.
            destruct (mixed_between (spent / most) (Q2R (left_from c false (Some k))) (Q2R (left_from c true (Some k))) R0) as [Le|Le];
              eapply good_weaken; [apply Le|apply At; simpl; auto|apply Le|apply At; simpl; auto].
          - rewrite left_at_zero. apply At. simpl. auto. }
        apply (live ds cs l [] s dist _ _ B B _ 0); [auto|auto|intros; apply Hf|intros; apply Hf|auto| |].
        -- rewrite app_nil_r. rewrite Rminus_0_r. exact G.
        -- intros r dv Lr E1. rewrite (emit_same cs l [] s dist r dv) by auto. rewrite exp_0. lra.
    + assert (N : 0 <= left_at (share spent) (Some k)).
      { pose proof (share_range spent Hmo) as R0. pose proof (Hnn false (Some k)). pose proof (Hnn true (Some k)).
        unfold left_at. destruct (mixed_between _ (Q2R (left_from c false (Some k))) (Q2R (left_from c true (Some k))) R0); lra. }
      pose proof (exp_ge_1 _ N). pose proof (Hf []).
      apply Rle_trans with (1 * f []); [lra|]. apply Rmult_le_compat_r; lra.
  - destruct (go_range data B) as (B1 & HB1 & R1). { specialize (Hf []). lra. }
    destruct (go_range (vadd data deltas) B) as (B2 & HB2 & R2). { specialize (Hf []). lra. }
    set (G := fun (l : fleaf) hs => match next l with
               | None => f [emit l (a :: s) hs]
               | Some k' => go I F data k' (fresh l (a :: s) hs) (fun tr => f (emit l (a :: s) hs :: tr)) end).
    set (G' := fun (l : fleaf) hs => match next l with
               | None => f [emit l (a + d :: vadd s dist) hs]
               | Some k' => go I F (vadd data deltas) k' (fresh l (a + d :: vadd s dist) hs)
                              (fun tr => f (emit l (a + d :: vadd s dist) hs :: tr)) end).
    assert (HG : forall l r, 0 <= G l r <= B + B1).
    { intros. unfold G. destruct (next l).
      - pose proof (R1 (fun tr => f (emit l (a :: s) r :: tr)) (fun tr => Hf _) n (fresh l (a :: s) r)). specialize (Hf []). lra.
      - pose proof (Hf [emit l (a :: s) r]). lra. }
    assert (HG' : forall l r, 0 <= G' l r <= B + B2).
    { intros. unfold G'. destruct (next l).
      - pose proof (R2 (fun tr => f (emit l (a + d :: vadd s dist) r :: tr)) (fun tr => Hf _) n (fresh l (a + d :: vadd s dist) r)).
        specialize (Hf []). lra.
      - pose proof (Hf [emit l (a + d :: vadd s dist) r]). lra. }
    apply (align I _ (nth k (steps F) Nil) (a :: s) (a + d :: vadd s dist) G G' (B + B1) (B + B2)); auto.
    { apply wfb_wf. auto. }
    intros [[ds cs] l] Hin. assert (Hp := wfb_pos _ _ _ (Hws k) _ _ _ Hin). assert (Hq := Hls' _ _ _ _ Hin).
    specialize (Hstep k _ Hin). unfold step_ok in Hstep. destruct (dead l) as [v|] eqn:Dl.
    { apply (leaf_never I _ _ _ _ _ _ _ _ (B + B1) (B + B2) _ v); auto. }
    apply orb_true_iff in Hstep. destruct Hstep as [Hstep|Hstep].
    { apply (leaf_null I _ _ _ _ _ _ _ _ (B + B1) (B + B2)); auto. }
    rewrite !andb_true_iff in Hstep. destruct Hstep as [[Hflat Hends] Hone].
    (* after the difference d, and some shift whose cost is no more than what is given up here keeps the leaf *)
    assert (Hcase : exists spent', stands spent' /\ apart (way c) spent' deltas /\
      good ds (map lin_of cs) (kept cs l (distances c)) (left_at (share spent) (Some k) - left_at (share spent') (next l)) (d :: dist)).
    { simpl in Hap. destruct Hap as [Hm Hap].
      destruct (worst (way c) ds (map lin_of cs) (kept cs l (distances c))) as [needed|] eqn:W; [|discriminate].
      destruct (summed (way c)) eqn:S.
      - cbn [negb orb] in Hone. rewrite !andb_true_iff in Hone. destruct Hone as [[Hdisc Hz0] Hz1].
        destruct Hap as [Hsum Hap]. destruct (Hmo S) as [Hsp Hwz]. pose proof (Rabs_pos d) as Pd.
        exists (spent + Rabs d). split; [|split; auto].
        + intros _. split; [unfold most; lra|]. intros Wh. destruct (Hwz Wh) as [z1 ->]. destruct Hm as [_ Hm].
          destruct (Hm Wh) as [z2 ->]. exists (z1 + Z.abs z2)%Z. rewrite plus_IZR, abs_IZR. auto.
        + destruct (summed_form S) as [Hlo Hhi]. unfold share. rewrite S. unfold left_at.
          apply (spent_good (way c) ds _ _ needed); auto; try lra.
          * intros Dx. rewrite Dx in Hdisc. simpl in Hdisc. apply andb_true_iff in Hdisc. destruct Hdisc as [Ha Hb].
            apply Z.eqb_eq in Hb. auto.
          * intros n Hn. pose proof (good_at _ _ _ _ _ _ _ n Hp Hends Hn) as G0. rewrite Q2R_minus in G0. exact G0.
          * pose proof (good_at _ _ _ _ _ _ _ 0%Q Hp Hz0 (or_introl eq_refl)) as G0. rewrite Q2R_minus in G0. simpl in G0.
            rewrite RMicromega.Q2R_0 in G0. exact G0.
          * pose proof (good_at _ _ _ _ _ _ _ 0%Q Hp Hz1 (or_introl eq_refl)) as G0. rewrite Q2R_minus in G0. simpl in G0.
            rewrite RMicromega.Q2R_0 in G0. exact G0.
      - exists spent. split; auto. split; auto. unfold share. rewrite S, !left_at_zero, <- Q2R_minus.
        apply (worst_good (way c) ds _ _ needed); auto. intros n Hn. apply (good_at _ _ _ _ _ _ _ n Hp Hends Hn). }
    destruct Hcase as (spent' & Hmo' & Hap' & Hgood).
    change (a + d :: vadd s dist) with (vadd (a :: s) (d :: dist)).
    apply (live ds cs l (match next l with None => [] | Some _ => keep (new l) (distances c) end)
             (a :: s) (d :: dist) G G' (B + B1) (B + B2) _ (left_at (share spent') (next l))); auto.
    { simpl. f_equal. auto. }
    intros r dv Lr E1. unfold G, G'. change (a + d :: vadd s dist) with (vadd (a :: s) (d :: dist)).
    assert (Le : length (a :: s) = length (d :: dist)) by (simpl; f_equal; auto).
    rewrite (emit_same cs l _ (a :: s) (d :: dist) r dv Le Lr E1).
    unfold flat in Hflat. destruct (next l) as [k'|] eqn:Nx.
    + apply Nat.eqb_eq in Hflat.
      rewrite (fresh_moves l (distances c)); auto.
      2:{ apply Forall_app in E1. destruct E1 as [_ E1]. apply Forall_app in E1. apply E1. }
      apply IHdata; auto.
      * unfold fresh. rewrite map_length. unfold dist. rewrite map_length. auto.
      * exists B. intros; apply Hf.
    + rewrite left_at_none, exp_0. lra.
Qed.

Theorem case_sound : forall data deltas f, length deltas = length data -> apart (way c) 0 deltas -> bounded f ->
  mechanism I F data f <= exp (Q2R bound) * mechanism I F (vadd data deltas) f.
Proof.
  destruct parts_ok as (Hnn & Hwi & _ & _ & Hinit & _ & _).
  intros data deltas f Hlen Hap [B Hf]. unfold mechanism.
  destruct (go_range data B) as (B1 & HB1 & R1). { specialize (Hf []). lra. }
  destruct (go_range (vadd data deltas) B) as (B2 & HB2 & R2). { specialize (Hf []). lra. }
  set (G := fun (dat : list R) (l : fleaf) hs => match next l with
             | None => f [emit l [] hs]
             | Some k' => go I F dat k' (fresh l [] hs) (fun tr => f (emit l [] hs :: tr)) end).
  assert (HG : forall l r, 0 <= G data l r <= B + B1).
  { intros. unfold G. destruct (next l).
    - pose proof (R1 (fun tr => f (emit l [] r :: tr)) (fun tr => Hf _) n (fresh l [] r)). specialize (Hf []). lra.
    - pose proof (Hf [emit l [] r]). lra. }
  assert (HG' : forall l r, 0 <= G (vadd data deltas) l r <= B + B2).
  { intros. unfold G. destruct (next l).
    - pose proof (R2 (fun tr => f (emit l [] r :: tr)) (fun tr => Hf _) n (fresh l [] r)). specialize (Hf []). lra.
    - pose proof (Hf [emit l [] r]). lra. }
  apply (align I _ (init F) [] [] (G data) (G (vadd data deltas)) (B + B1) (B + B2)); auto.
  { apply wfb_wf. auto. }
  intros [[ds cs] l] Hin. assert (Hp := wfb_pos _ _ _ Hwi _ _ _ Hin).
  assert (Hq : Forall (lawful1 I) ds) by (eapply HL; eauto).
  specialize (Hinit _ Hin). unfold init_ok in Hinit. destruct (dead l) as [v|] eqn:Dl.
  { apply (leaf_never I _ _ _ _ _ _ _ _ (B + B1) (B + B2) _ v); auto. }
  apply orb_true_iff in Hinit. destruct Hinit as [Hinit|Hinit].
  { apply (leaf_null I _ _ _ _ _ _ _ _ (B + B1) (B + B2)); auto. }
  apply andb_true_iff in Hinit. destruct Hinit as [Hflat Hc].
  pose proof (good_at _ _ _ _ _ _ _ 0%Q Hp Hc (or_introl eq_refl)) as Hg. rewrite Q2R_minus in Hg. simpl in Hg.
  rewrite <- left_at_zero, <- share_none in Hg.
  change (@nil R) with (vadd [] []) at 2.
  apply (live ds cs l (match next l with None => [] | Some _ => keep (new l) (distances c) end)
           [] [] (G data) (G (vadd data deltas)) (B + B1) (B + B2) _ (left_at (share 0) (next l))); auto.
  intros r dv Lr E1. unfold G.
  pose proof (emit_same cs l _ [] [] r dv eq_refl Lr E1) as Es. simpl in Es. rewrite Es.
  unfold flat in Hflat. destruct (next l) as [k'|] eqn:Nx.
  - apply Nat.eqb_eq in Hflat.
    pose proof (fresh_moves l (distances c) [] [] r dv eq_refl Lr Hflat) as Fm. simpl in Fm. rewrite Fm.
    2:{ apply Forall_app in E1. destruct E1 as [_ E1]. apply Forall_app in E1. apply E1. }
    apply go_align; auto.
    + intros S. destruct (summed_form S) as [_ P]. apply IZR_lt in P. fold most in P. split; [lra|]. exists 0%Z. auto.
    + unfold fresh. rewrite map_length. unfold dist. rewrite map_length. auto.
    + exists B. intros; apply Hf.
  - rewrite left_at_none, exp_0. lra.
Qed.
End Sound.
