(* The theorem of kind tree: an accepted certificate bounds the privacy loss for all neighbours of its scope. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null Fold Fold_sound Tree_check.
Import ListNotations.
Open Scope R_scope.

(* ---- one answer ---- *)
Lemma rate_at : forall e pre d d' post dv,
  rate e (pre ++ d :: post) dv = rate e (pre ++ d' :: post) dv + Q2R (coef (length pre) e) * (d - d').
Proof. intros. unfold rate, coef. rewrite (dot_at _ _ d d'). ring. Qed.

Lemma up_good : forall ds rows eqs c pre post a d, lowj (length pre) rows eqs = true -> a <= d ->
  good ds rows eqs c (pre ++ a :: post) -> good ds rows eqs c (pre ++ d :: post).
Proof.
  intros ds rows eqs c pre post a d L Had (dv & A & C & R1 & E1). unfold lowj in L.
  apply andb_true_iff in L. destruct L as [L1 L2]. rewrite forallb_forall in L1, L2.
  exists dv. repeat split; auto; apply Forall_forall; intros e He; rewrite Forall_forall in R1, E1.
  - specialize (R1 e He). specialize (L1 e He). apply Qle_bool_R in L1. rewrite RMicromega.Q2R_0 in L1.
    rewrite (rate_at e pre d a). assert (0 <= Q2R (coef (length pre) e) * (d - a)) by (apply Rmult_le_pos; lra).
    simpl in *. lra.
  - specialize (E1 e He). specialize (L2 e He). apply Qeq_bool_R in L2. rewrite RMicromega.Q2R_0 in L2.
    unfold ev in *. rewrite (rate_at e pre d a), L2. simpl in *. lra.
Qed.
Lemma down_good : forall ds rows eqs c pre post b d, highj (length pre) rows eqs = true -> d <= b ->
  good ds rows eqs c (pre ++ b :: post) -> good ds rows eqs c (pre ++ d :: post).
Proof.
  intros ds rows eqs c pre post b d L Hdb (dv & A & C & R1 & E1). unfold highj in L.
  apply andb_true_iff in L. destruct L as [L1 L2]. rewrite forallb_forall in L1, L2.
  exists dv. repeat split; auto; apply Forall_forall; intros e He; rewrite Forall_forall in R1, E1.
  - specialize (R1 e He). specialize (L1 e He). apply Qle_bool_R in L1. rewrite RMicromega.Q2R_0 in L1.
    rewrite (rate_at e pre d b). assert (0 <= - Q2R (coef (length pre) e) * (b - d)) by (apply Rmult_le_pos; lra).
    simpl in *. lra.
  - specialize (E1 e He). specialize (L2 e He). apply Qeq_bool_R in L2. rewrite RMicromega.Q2R_0 in L2.
    unfold ev in *. rewrite (rate_at e pre d b), L2. simpl in *. lra.
Qed.
Lemma mix_app : forall t a b c d, length a = length b -> mix t (a ++ c) (b ++ d) = mix t a b ++ mix t c d.
Proof. induction a; destruct b; simpl; intros; auto; try discriminate. f_equal. apply IHa. lia. Qed.
Lemma between_good : forall ds rows eqs c pre post a b d, Forall (fun x => 0 < Q2R (db x)) ds -> Forall continuous ds ->
  a <= d <= b -> good ds rows eqs c (pre ++ a :: post) -> good ds rows eqs c (pre ++ b :: post) ->
  good ds rows eqs c (pre ++ d :: post).
Proof.
  intros ds rows eqs c pre post a b d Hp Hc Hd Ga Gb. destruct (Req_dec a b) as [->|Ne].
  - replace d with b by lra. auto.
  - set (t := (d - a) / (b - a)).
    assert (Ht : 0 <= t <= 1).
    { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_le_reg_r with (b - a); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (Hm : mix t (pre ++ a :: post) (pre ++ b :: post) = pre ++ d :: post).
    { rewrite mix_app by auto. rewrite mix_same. simpl. rewrite mix_same. repeat f_equal. unfold t. field. lra. }
    rewrite <- Hm. apply good_mix; auto. rewrite !app_length. simpl. auto.
Qed.

Section Box.
Variables (ds : list draw) (rows eqs : list lin) (c : R).
Hypothesis Hp : Forall (fun x => 0 < Q2R (db x)) ds.

Definition inside (a b : Z) (d : R) : Prop :=
  IZR a <= d <= IZR b /\ (existsb discreteb ds = true -> exists z : Z, d = IZR z).

Lemma options_good : forall a b pre post d, inside a b d ->
  (forall o, In o (options a b (existsb discreteb ds) rows eqs (length pre)) -> good ds rows eqs c (pre ++ Q2R o :: post)) ->
  good ds rows eqs c (pre ++ d :: post).
Proof.
  intros a b pre post d [Hd Hz] H. unfold options in H.
  destruct (lowj (length pre) rows eqs) eqn:L; [|destruct (highj (length pre) rows eqs) eqn:U].
  - apply up_good with (a := IZR a); auto; [lra|]. rewrite <- Q2R_inject_Z. apply H. left; auto.
  - apply down_good with (b := IZR b); auto; [lra|]. rewrite <- Q2R_inject_Z. apply H. left; auto.
  - destruct (existsb discreteb ds) eqn:D.
    + destruct (Hz eq_refl) as [z ->]. rewrite <- Q2R_inject_Z. apply H. apply ints_in.
      destruct Hd as [H1 H2]. apply le_IZR in H1. apply le_IZR in H2. auto.
    + apply between_good with (a := IZR a) (b := IZR b); auto.
      * apply not_discrete; auto.
      * rewrite <- Q2R_inject_Z. apply H. left; auto.
      * rewrite <- (Q2R_inject_Z b). apply H. right; left; auto.
Qed.

Lemma box_good : forall a b n pre d, length d = n -> Forall (inside a b) d ->
  (forall v, In v (vertices (options a b (existsb discreteb ds) rows eqs) (length pre) n) ->
     good ds rows eqs c (pre ++ map Q2R v)) ->
  good ds rows eqs c (pre ++ d).
Proof.
  induction n; intros pre d Hl Hd H; destruct d as [|x d]; try discriminate.
  - specialize (H []). simpl in H. apply H. auto.
  - inversion Hd; subst. apply (options_good a b); auto. intros o Ho.
    replace (pre ++ Q2R o :: d) with ((pre ++ [Q2R o]) ++ d) by (rewrite <- app_assoc; auto).
    apply IHn; auto. intros v Hv. rewrite <- app_assoc. simpl.
    change (Q2R o :: map Q2R v) with (map Q2R (o :: v)). apply H. simpl. apply in_flat_map.
    exists o. split; auto. apply in_map. rewrite app_length in Hv. simpl in Hv. rewrite Nat.add_1_r in Hv. auto.
Qed.

(* ---- the ball of the sum ---- *)
Definition zeros_R (j : nat) := repeat 0 j.
Lemma map_zeros : forall j, map Q2R (repeat 0%Q j) = zeros_R j.
Proof. induction j; simpl; auto. rewrite IHj, RMicromega.Q2R_0. auto. Qed.
Lemma zeros_length : forall j, length (zeros_R j) = j.
Proof. intros. apply repeat_length. Qed.
Lemma zeros_app : forall j, zeros_R j ++ [0] = zeros_R (S j).
Proof. unfold zeros_R. induction j; simpl; auto. rewrite IHj. auto. Qed.
Lemma total_zero : forall l, total l <= 0 -> l = zeros_R (length l).
Proof.
  induction l; simpl; intros H; auto. pose proof (Rabs_pos a).
  assert (0 <= total l) by (clear; induction l; simpl; [lra|pose proof (Rabs_pos a); lra]).
  assert (a = 0) as -> by (destruct (Req_dec a 0); auto; pose proof (Rabs_pos_lt a H2); lra).
  change (zeros_R (S (length l))) with (0 :: zeros_R (length l)). f_equal. apply IHl. lra.
Qed.
Lemma total_scale : forall s l, 0 <= s -> total (map (fun y => s * y) l) = s * total l.
Proof. induction l; simpl; intros; [ring|]. rewrite IHl, Rabs_mult, (Rabs_right s) by lra. ring. Qed.

Variable k : nat.
Variable n : nat.
Hypothesis Hk : (0 < k)%nat.
Hypothesis Hcont : existsb discreteb ds = false.
Hypothesis Hall : forall j o, (j < n)%nat -> In o (options (- Z.of_nat k) (Z.of_nat k) false rows eqs j) ->
  good ds rows eqs c (map Q2R (on_axis n j o)).
Let kr := IZR (Z.of_nat k).

Lemma kr_pos : 0 < kr.
Proof. unfold kr. apply IZR_lt. lia. Qed.

Lemma axis_good : forall j x, (j < n)%nat -> - kr <= x <= kr -> good ds rows eqs c (zeros_R j ++ x :: zeros_R (n - S j)).
Proof.
  intros j x Hj Hx. apply (options_good (- Z.of_nat k) (Z.of_nat k)).
  - split; [rewrite opp_IZR; auto|]. rewrite Hcont. discriminate.
  - rewrite Hcont, zeros_length. intros o Ho. specialize (Hall j o Hj Ho). unfold on_axis in Hall.
    rewrite map_app in Hall. simpl in Hall. rewrite !map_zeros in Hall. auto.
Qed.

Lemma mix_zero_axis : forall t s m d, length d = m ->
  mix t (0 :: d) (s :: zeros_R m) = (t * s) :: map (fun y => (1 - t) * y) d.
Proof.
  intros t s m d H. simpl. f_equal; [ring|]. revert m H. induction d; destruct m; simpl; intros; auto; try discriminate.
  f_equal; [ring|]. apply IHd. lia.
Qed.

Lemma ball_good : forall m d j, length d = m -> (j + length d = n)%nat -> (0 < n)%nat -> total d <= kr ->
  good ds rows eqs c (zeros_R j ++ d).
Proof.
  pose proof kr_pos as K. induction m as [|m]; intros d j Hm Hl Hn Ht; destruct d as [|x d]; try discriminate.
  - simpl in Hl. rewrite Nat.add_0_r in Hl. subst j. rewrite app_nil_r.
    pose proof (axis_good (n - 1) 0) as G. replace (n - S (n - 1))%nat with 0%nat in G by lia.
    change (zeros_R 0) with (@nil R) in G. rewrite zeros_app in G. replace (S (n - 1)) with n in G by lia.
    apply G; [lia|lra].
  - simpl in Ht, Hl. pose proof (total_pos d) as Tp. pose proof (Rabs_pos x) as Xp.
    assert (Hx : - kr <= x <= kr) by (unfold Rabs in *; destruct (Rcase_abs x); lra).
    assert (Hd : length d = (n - S j)%nat) by lia.
    destruct (Req_dec (Rabs x) kr) as [E1|Ne].
    + rewrite (total_zero d) by lra. rewrite Hd. apply axis_good; auto. lia.
    + set (w := Rabs x / kr). assert (Hw : 0 <= w < 1).
      { unfold w. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
        apply Rmult_lt_reg_r with kr; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      set (s := if Rcase_abs x then - kr else kr).
      assert (Hs : w * s = x).
      { unfold w, s, Rabs. destruct (Rcase_abs x); field; lra. }
      set (d2 := map (fun y => / (1 - w) * y) d).
      assert (G2 : good ds rows eqs c (zeros_R (S j) ++ d2)).
      { simpl in Hm. apply IHm; auto.
        - unfold d2. rewrite map_length. lia.
        - unfold d2. rewrite map_length. lia.
        - unfold d2. rewrite total_scale; [|left; apply Rinv_0_lt_compat; lra].
          apply Rmult_le_reg_l with (1 - w); [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra.
          assert (w * kr = Rabs x) by (unfold w; field; lra). lra. }
      assert (G1 : good ds rows eqs c (zeros_R j ++ s :: zeros_R (n - S j))).
      { apply axis_good; [lia|]. unfold s. destruct (Rcase_abs x); lra. }
      rewrite <- zeros_app, <- app_assoc in G2. simpl in G2.
      assert (Hmix : mix w (zeros_R j ++ 0 :: d2) (zeros_R j ++ s :: zeros_R (n - S j)) = zeros_R j ++ x :: d).
      { rewrite mix_app by auto. rewrite mix_same. f_equal.
        rewrite mix_zero_axis; [|unfold d2; rewrite map_length; auto]. rewrite Hs. f_equal.
        unfold d2. rewrite map_map. clear - Hw. induction d; simpl; auto. rewrite IHd. f_equal. field. lra. }
      rewrite <- Hmix. apply good_mix; auto; [lra|apply not_discrete; auto|].
      rewrite !app_length. simpl. f_equal. f_equal. unfold d2. rewrite map_length, zeros_length. auto.
Qed.
End Box.

Lemma zrange_in : forall a b z, (a <= z <= b)%Z -> In z (zrange a b).
Proof.
  intros a b z H. unfold zrange. apply in_map_iff. exists (Z.to_nat (z - a)). split; [rewrite Z2Nat.id; lia|].
  apply in_seq. split; [lia|]. simpl. apply Z2Nat.inj_lt; lia.
Qed.

Lemma points_good : forall ds rows eqs c n pre d k, length d = n -> Forall (fun x => exists z : Z, x = IZR z) d ->
  total d <= IZR k -> (forall v, In v (points rows eqs (length pre) n k) -> good ds rows eqs c (pre ++ map Q2R v)) ->
  good ds rows eqs c (pre ++ d).
Proof.
  induction n; intros pre d k Hl Hd Ht H; destruct d as [|x d]; try discriminate.
  - specialize (H []). simpl in H. apply H. auto.
  - inversion Hd; subst. destruct H2 as [z ->]. simpl in Ht, Hl. pose proof (total_pos d) as Tp.
    assert (Hz : (Z.abs z <= k)%Z) by (apply le_IZR; rewrite abs_IZR; lra).
    (* with any whole number a in the place of z that is listed *)
    assert (G : forall a, (Z.abs a <= Z.abs z)%Z ->
      In a (zrange (if lowj (length pre) rows eqs then - k else if highj (length pre) rows eqs then 0 else - k)
                   (if lowj (length pre) rows eqs then 0 else k)%Z) -> good ds rows eqs c (pre ++ IZR a :: d)).
    { intros a Ha Hin. replace (pre ++ IZR a :: d) with ((pre ++ [IZR a]) ++ d) by (rewrite <- app_assoc; auto).
      apply (IHn (pre ++ [IZR a]) d (k - Z.abs a)%Z); auto.
      - rewrite minus_IZR, abs_IZR. apply IZR_le in Ha. rewrite !abs_IZR in Ha. lra.
      - intros v Hv. rewrite <- app_assoc. simpl. rewrite <- Q2R_inject_Z.
        change (Q2R (inject_Z a) :: map Q2R v) with (map Q2R (inject_Z a :: v)). apply H. simpl. apply in_flat_map.
        exists a. split; auto. apply in_map. rewrite app_length in Hv. simpl in Hv. rewrite Nat.add_1_r in Hv. auto. }
    destruct (lowj (length pre) rows eqs) eqn:L; [|destruct (highj (length pre) rows eqs) eqn:U].
    + destruct (Z_le_dec z 0) as [Hs|Hs]; [apply G; [lia|apply zrange_in; lia]|].
      apply up_good with (a := 0); auto; [apply IZR_le; lia|]. apply (G 0%Z); [lia|apply zrange_in; lia].
    + destruct (Z_le_dec 0 z) as [Hs|Hs]; [apply G; [lia|apply zrange_in; lia]|].
      apply down_good with (b := 0); auto; [apply IZR_le; lia|]. apply (G 0%Z); [lia|apply zrange_in; lia].
    + apply G; [lia|apply zrange_in; lia].
Qed.

(* ---- the theorem ---- *)
Fixpoint diff (x y : list R) : list R := match x, y with a :: x', b :: y' => (b - a) :: diff x' y' | _, _ => [] end.
Lemma diff_length : forall x y, length x = length y -> length (diff x y) = length x.
Proof. induction x; destruct y; simpl; intros; auto; discriminate. Qed.
Lemma vadd_diff : forall x y, length x = length y -> vadd x (diff x y) = y.
Proof. induction x; destruct y; simpl; intros; auto; try discriminate. f_equal; [ring|apply IHx; lia]. Qed.
Lemma diff_Forall : forall (P : R -> Prop) x y, Forall2 (fun a b => P (b - a)) x y -> Forall P (diff x y).
Proof. induction 1; simpl; constructor; auto. Qed.
Lemma diff_total : forall x y, total (diff x y) = total (map (fun p => snd p - fst p) (combine x y)).
Proof. induction x; destruct y; simpl; intros; auto. rewrite IHx. auto. Qed.
Lemma Forall_both : forall A (P Q : A -> Prop) l, Forall P l -> Forall Q l -> Forall (fun x => P x /\ Q x) l.
Proof. intros. rewrite Forall_forall in *. auto. Qed.

Lemma some_same : forall A (a b : A), Some a = Some b -> a = b.
Proof. intros A a b H. inversion H. auto. Qed.
Lemma needed_good : forall s (int : bool) n ds rows eqs c vs x y, Forall (fun d => 0 < Q2R (db d)) ds ->
  (int = true \/ existsb discreteb ds = false) -> (0 < n)%nat -> (match s with TSum O => false | _ => true end = true) ->
  needed s n (existsb discreteb ds) rows eqs = Some vs -> (forall v, In v vs -> good ds rows eqs c (map Q2R v)) ->
  tree_neighbours s int n x y -> good ds rows eqs c (diff x y).
Proof.
  intros s int n ds rows eqs c vs x y Hp Hi Hn Hs Hv Hg (Lx & Ly & Hz & Hm).
  assert (Lxy : length x = length y) by congruence.
  assert (Ld : length (diff x y) = n) by (rewrite diff_length; auto).
  assert (HZ : Forall (fun d => existsb discreteb ds = true -> exists z, d = IZR z) (diff x y)).
  { destruct Hi as [->|Hd].
    - apply diff_Forall. specialize (Hz eq_refl). clear - Hz. induction Hz; constructor; auto.
    - rewrite Hd. clear. induction (diff x y); constructor; auto. discriminate. }
  destruct s as [k|k|k]; unfold needed in Hv.
  - apply some_same in Hv; subst vs. apply (box_good ds rows eqs c Hp (- Z.of_nat k) (Z.of_nat k) n [] (diff x y)); auto.
    apply Forall_both; auto. apply diff_Forall. clear - Hm. induction Hm; constructor; auto.
    rewrite opp_IZR. unfold Rabs in H. destruct (Rcase_abs (y - x)); lra.
  - apply some_same in Hv; subst vs. destruct Hm as (u & Hu & Hm).
    apply (box_good ds rows eqs c Hp (Z.of_nat u - Z.of_nat k) (Z.of_nat u) n [] (diff x y)); auto.
    + apply Forall_both; auto. apply diff_Forall. auto.
    + intros v Hin. apply Hg.
      apply in_flat_map. exists u. split; auto. apply in_seq. lia.
  - destruct (existsb discreteb ds) eqn:D.
    { apply some_same in Hv; subst vs. change (diff x y) with ([] ++ diff x y).
      apply (points_good ds rows eqs c n [] (diff x y) (Z.of_nat k)); auto.
      - eapply Forall_impl; [|apply HZ]. auto.
      - rewrite diff_total. auto. }
    apply some_same in Hv; subst vs.
    change (diff x y) with (zeros_R 0 ++ diff x y).
    apply (ball_good ds rows eqs c Hp k n) with (m := length (diff x y)); auto.
    + destruct k; [discriminate|lia].
    + intros j o Hj Ho. apply Hg. apply in_flat_map. exists j. split; [apply in_seq; lia|]. apply in_map. auto.
    + rewrite diff_total. auto.
Qed.

Lemma all2_in : forall A B (f : A -> B -> bool) a b y, all2 f a b = true -> In y b -> exists x, In x a /\ f x y = true.
Proof.
  induction a; destruct b; simpl; intros y H Hin; try discriminate; [contradiction|].
  apply andb_true_iff in H. destruct H as [H1 H2]. destruct Hin as [<-|Hin]; [eauto|].
  destruct (IHa b0 y H2 Hin) as (x & Hx & Hf). eauto.
Qed.

Section Sound.
Variable c : tree_certificate.
Hypothesis Hc : check_tree c = true.
Variable I : draw -> law.
Hypothesis HL : forall ds cs l, In (ds, cs, l) (leaves (tprogram c)) -> Forall (lawful1 I) ds.

Theorem tree_private_on : forall x y f, tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> bounded f ->
  tree_mechanism I (tprogram c) x f <= exp (Q2R (tbound c)) * tree_mechanism I (tprogram c) y f.
Proof.
  intros x y f Hn [B Hf]. unfold check_tree in Hc. rewrite !andb_true_iff in Hc. destruct Hc as (((Hl & Hs) & Hw) & Hleaf).
  rewrite forallb_forall in Hleaf. unfold tree_mechanism.
  assert (Lxy : length x = length y) by (destruct Hn as (A & A' & _); congruence).
  apply (align I _ (tprogram c) x y _ _ B B); [intros; apply Hf|intros; apply Hf|apply wfb_wf; auto|].
  intros [[ds cs] l] Hin. assert (Hp := wfb_pos _ _ _ Hw _ _ _ Hin). assert (Hq := HL _ _ _ Hin).
  specialize (Hleaf _ Hin). unfold leaf_ok in Hleaf. destruct (tdead l) as [v|] eqn:Dl.
  { apply (leaf_never I _ _ _ _ _ _ _ _ B B _ v); [auto|intros; apply Hf|intros; apply Hf|auto]. }
  apply orb_true_iff in Hleaf. destruct Hleaf as [Hleaf|Hleaf].
  { apply (leaf_null I _ _ _ _ _ _ _ _ B B); [auto|intros; apply Hf|intros; apply Hf|auto]. }
  apply andb_true_iff in Hleaf. destruct Hleaf as [Hleaf Hneed]. apply andb_true_iff in Hleaf. destruct Hleaf as [Hi _].
  destruct (needed (tscope c) (tlength c) (existsb discreteb ds) (map lin_of cs) (tkept cs l)) as [vs|] eqn:N; [|discriminate].
  assert (Hcov : forall v, In v vs -> tcovers ds (map lin_of cs) (tkept cs l) (tbound c) (tshifts l) v = true).
  { cbv zeta in Hneed. apply orb_true_iff in Hneed. destruct Hneed as [Hneed|Hneed].
    - intros v Hv. destruct (all2_in _ _ _ _ _ v Hneed Hv) as (e & He & Hk). apply existsb_exists. exists e. auto.
    - rewrite forallb_forall in Hneed. auto. }
  assert (G : good ds (map lin_of cs) (tkept cs l) (Q2R (tbound c)) (diff x y)).
  { apply (needed_good (tscope c) (tintegers c) (tlength c) ds _ _ _ vs); auto.
    - apply orb_true_iff in Hi. destruct Hi as [Hi|Hi]; auto. right. apply negb_true_iff; auto.
    - destruct (tlength c); [discriminate|lia].
    - intros v Hv. specialize (Hcov v Hv). unfold tcovers in Hcov. apply existsb_exists in Hcov.
      destruct Hcov as (e & _ & He). apply andb_true_iff in He. destruct He as [_ He].
      exists (map Q2R (tshift e)). apply keepsQ_sound; auto. }
  destruct (good_keeps cs (tkept cs l) ds _ (diff x y) G) as (dv & A & C & E1 & K).
  { intros e He. apply in_or_app. left. apply equalities_in. auto. }
  apply (leaf_shift I _ ds cs l x y _ _ B B _ (cost ds dv) dv); [intros; apply Hf|intros; apply Hf| |].
  - apply lawful_shiftable; auto.
  - intros r Hr Ha. assert (Lr : length r = length ds) by (symmetry; eapply Forall2_length; eauto).
    assert (Ld : length ds = length dv) by (eapply Forall2_length; eauto).
    assert (Lxd : length x = length (diff x y)) by (rewrite diff_length; auto).
    specialize (K x r Lxd Lr Ha). rewrite vadd_diff in K by auto. split; auto.
    assert (Ho : tree_output l y (vadd r dv) = tree_output l x r).
    { unfold tree_output. f_equal. apply map_ext_in. intros e He. rewrite <- (vadd_diff x y Lxy) at 1.
      rewrite ev_vadd by congruence. rewrite Forall_forall in E1. specialize (E1 (without e)).
      assert (G0 : ev (without e) (diff x y) dv = 0) by (apply E1; apply in_or_app; right; apply in_map; auto).
      unfold ev, without, rate in *; simpl in *. rewrite RMicromega.Q2R_0 in G0. lra. }
    rewrite Ho. pose proof (Hf (tree_output l x r)).
    apply Rle_trans with (1 * f (tree_output l x r)); [lra|]. apply Rmult_le_compat_r; [lra|].
    apply exp_ge_1. lra.
Qed.
End Sound.

Theorem tree_private : forall c, check_tree c = true -> forall I, lawful I -> forall x y f,
  tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> bounded f ->
  tree_mechanism I (tprogram c) x f <= exp (Q2R (tbound c)) * tree_mechanism I (tprogram c) y f.
Proof.
  intros c Hc I HI x y f Hn Hf. apply tree_private_on; auto.
  intros ds cs l Hin. pose proof Hc as H. unfold check_tree in H. rewrite !andb_true_iff in H. destruct H as ((_ & Hw) & _).
  pose proof (wfb_pos _ _ _ Hw _ _ _ Hin) as Hp. eapply Forall_impl; [|apply Hp]. intros. apply HI. auto.
Qed.
