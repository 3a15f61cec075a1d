(* The theorem of kind tree: an accepted certificate bounds the privacy loss for all neighbours of its scope. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith FunctionalExtensionality.
From Dpaudit Require Import Law Tree Shifts Farkas Null Complete Fold Fold_sound Tree_check.
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
Variable I : draw -> law.

(* ---- one leaf, or what stands for several ---- *)
Definition of_output (f : nat * list R -> R) x (l : tree_leaf) (r : list R) : R := f (tree_output l x r).
Lemma leaf_private : forall ds cs l x y f B, leaf_ok c (ds, cs, l) = true ->
  Forall (fun d => 0 < Q2R (db d)) ds -> Forall (lawful1 I) ds ->
  tlength c <> O -> (match tscope c with TSum O => false | _ => true end = true) ->
  tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> (forall o, 0 <= f o <= B) ->
  term I x [] (of_output f x) (ds, cs, l) <= exp (Q2R (tbound c)) * term I y [] (of_output f y) (ds, cs, l).
Proof.
  intros ds cs l x y f B Hleaf Hp Hq Hl Hs Hn Hf.
  assert (Lxy : length x = length y) by (destruct Hn as (A & A' & _); congruence).
  unfold leaf_ok in Hleaf. destruct (tdead l) as [v|] eqn:Dl.
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
    - lia.
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
    unfold of_output. rewrite Ho. pose proof (Hf (tree_output l x r)).
    apply Rle_trans with (1 * f (tree_output l x r)); [lra|]. apply Rmult_le_compat_r; [lra|].
    apply exp_ge_1. lra.
Qed.

(* ---- merged leaves are their hull, but for what has probability 0 ---- *)
Section Merged.
Variables (k : nat) (m : merged) (x : list R) (f : nat * list R -> R) (B : R).
Hypothesis Hf : forall o, 0 <= f o <= B.
Hypothesis Hcomplete : complete false (tprogram c) = true.
Hypothesis Hwf : wf (tprogram c) 0.
Hypothesis Hm : class_ok c k m = true.
Hypothesis HL : forall ds cs l, In (ds, cs, l) (leaves (tprogram c)) -> Forall (lawful1 I) ds.

Let ds := mdraws m.
Let F := of_output f x.
Let on_hull (r : list R) : R := ind (hull m) x r * F (mleaf m) r.
Let here := filter (is_member k) (leaves (tprogram c)).

Lemma class_parts :
  Forall (wf_cond (length ds)) (hull m) /\ Forall (fun e => (length (lh e) <= length ds)%nat) (treleased (mleaf m)) /\
  (forall p, In p (leaves (tprogram c)) -> is_member k p = true -> inside_ok m p = true) /\
  (forall p, In p (leaves (tprogram c)) -> is_member k p = false -> apart_ok k m p = true) /\
  exists cs l, In (ds, cs, l) (leaves (tprogram c)).
Proof.
  unfold class_ok in Hm. cbv zeta in Hm. rewrite !andb_true_iff in Hm. destruct Hm as ((((H1 & H2) & _) & H4) & H5).
  rewrite forallb_forall in H1, H2, H5. split; [|split; [|split; [|split]]].
  - apply Forall_forall. intros h Hh. apply Nat.leb_le. apply (H1 h Hh).
  - apply Forall_forall. intros e He. apply Nat.leb_le. apply (H2 e He).
  - intros p Hp Hi. specialize (H5 p Hp). rewrite Hi in H5. auto.
  - intros p Hp Hi. specialize (H5 p Hp). rewrite Hi in H5. auto.
  - apply existsb_exists in H4. destruct H4 as ([[ds' cs] l] & Hp & Hi). specialize (H5 _ Hp). rewrite Hi in H5.
    unfold inside_ok in H5. rewrite !andb_true_iff in H5. destruct H5 as (((H5 & _) & _) & _).
    destruct (draws_eq_dec ds' (mdraws m)) as [->|]; [|discriminate]. eauto.
Qed.
Lemma on_hull_range : forall r, 0 <= on_hull r <= B.
Proof. intros. apply ind_mult_range. apply Hf. Qed.
Lemma on_hull_prefix : forall r s, length r = length ds -> on_hull (r ++ s) = on_hull r.
Proof.
  intros r s Hr. destruct class_parts as (H1 & H2 & _). unfold on_hull. rewrite ind_prefix by (rewrite Hr; auto). f_equal.
  unfold F, of_output, tree_output. do 2 f_equal. apply map_ext_in. intros e He. rewrite Forall_forall in H2.
  unfold ev, rate. rewrite dot_app; auto. rewrite Hr. auto.
Qed.
Lemma hull_is_sum : integ I ds on_hull =
  lsum (fun p => term I x [] (fun _ r => on_hull r) (let '(ds', cs, l) := p in (beyond ds ds', cs, l))) (leaves (tprogram c)).
Proof.
  transitivity (run I (pad ds (tprogram c)) x [] (fun _ r => on_hull r)).
  - rewrite (run_pad I (tprogram c) false ds x [] on_hull Hcomplete).
    + rewrite Rmult_1_l. reflexivity.
    + intros; apply on_hull_range.
    + intros. apply on_hull_prefix. auto.
  - rewrite (decompose I _ _ x [] _ B); [|intros; apply on_hull_range|apply wf_pad; auto]. rewrite leaves_pad, lsum_map.
    f_equal.
Qed.
Lemma term_pos : forall ds' cs (l : tree_leaf) G, (forall l r, 0 <= G l r <= B) -> 0 <= term I x [] G (ds', cs, l).
Proof. intros. unfold term. apply (integ_range I ds' _ B). intros. apply ind_mult_range. auto. Qed.
(* A leaf outside of the class has probability 0 there. *)
Lemma apart_zero : forall ds' cs l, In (ds', cs, l) (leaves (tprogram c)) -> is_member k (ds', cs, l) = false ->
  term I x [] (fun (_ : tree_leaf) r => on_hull r) (beyond ds ds', cs, l) <= 0.
Proof.
  intros ds' cs l Hin Hi. destruct class_parts as (H1 & _ & _ & H4 & (cs0 & l0 & H5)). specialize (H4 _ Hin Hi).
  assert (Hall : Forall (lawful1 I) (beyond ds ds')).
  { unfold beyond. apply Forall_app. split; [eapply HL; eauto|]. apply HL in Hin.
    rewrite <- (firstn_skipn (length ds) ds') in Hin. apply Forall_app in Hin. apply Hin. }
  unfold apart_ok in H4. cbv zeta in H4. fold ds in H4.
  assert (Z : forall (V : R) (T T' : R), T <= exp V * T' -> T' = 0 -> T <= 0) by (intros; subst; lra).
  assert (Zero : forall dds css (ll : tree_leaf), term I x [] (fun _ _ => 0) (dds, css, ll) = 0).
  { intros. unfold term. transitivity (integ I dds (fun _ => 0)); [f_equal; extensionality r; ring|]. apply integ_const. lra. }
  apply orb_true_iff in H4. destruct H4 as [H4|H4].
  - apply (Z 0 _ (term I x [] (fun _ _ => 0) (beyond ds ds', cs, l))); [|apply Zero].
    apply (leaf_null I _ _ _ _ _ _ _ _ B B); [auto|intros; apply on_hull_range|intros; specialize (Hf (0%nat, [])); lra|auto].
  - destruct (tdead l) as [v|].
    + apply (Z 0 _ (term I x [] (fun _ _ => 0) (beyond ds ds', cs, l))); [|apply Zero].
      apply (leaf_never I _ _ _ _ _ _ _ _ B B _ v); [auto|intros; apply on_hull_range|intros; specialize (Hf (0%nat, [])); lra|auto].
    + apply existsb_exists in H4. destruct H4 as (a & _ & H4). apply andb_true_iff in H4. destruct H4 as [_ H4].
      (* the hull's conditions join those of the leaf *)
      assert (E : term I x [] (fun (_ : tree_leaf) r => on_hull r) (beyond ds ds', cs, l) =
                  term I x [] (fun (_ : tree_leaf) r => F (mleaf m) r) (beyond ds ds', hull m ++ cs, l)).
      { unfold term. f_equal. extensionality r. simpl. rewrite ind_app. unfold on_hull. ring. }
      rewrite E. apply (Z 0 _ (term I x [] (fun _ _ => 0) (beyond ds ds', hull m ++ cs, l))); [|apply Zero].
      apply (leaf_never I _ _ _ _ _ _ _ _ B B _ (snd a)); [auto|intros; apply Hf|intros; specialize (Hf (0%nat, [])); lra|auto].
Qed.
Lemma member_form : forall ds' cs l, In (ds', cs, l) (leaves (tprogram c)) -> is_member k (ds', cs, l) = true ->
  ds' = ds /\ (forall r, F l r = F (mleaf m) r) /\
  Forall2 (fun h v => exists n, negative h = Some n /\ dead_ok ds (cs ++ [n]) v = true) (hull m) (tinside l).
Proof.
  intros ds' cs l Hin Hi. destruct class_parts as (_ & _ & H3 & _). specialize (H3 _ Hin Hi). unfold inside_ok in H3.
  rewrite !andb_true_iff in H3. destruct H3 as (((H3 & H4) & H5) & H6).
  destruct (draws_eq_dec ds' (mdraws m)) as [->|]; [|discriminate]. apply Nat.eqb_eq in H4.
  destruct (lins_eq_dec (treleased l) (treleased (mleaf m))) as [E|]; [|discriminate]. split; auto. split.
  - intros r. unfold F, of_output, tree_output. rewrite H4, E. auto.
  - revert H6. generalize (tinside l). generalize (hull m). intros hs. clear. induction hs as [|h hs IH]; intros [|v vs]; simpl; intros H; try discriminate; constructor.
    + apply andb_true_iff in H. destruct H as [H _]. destruct (negative h); [eauto|discriminate].
    + apply andb_true_iff in H. apply IH. apply H.
Qed.
Lemma beyond_same : beyond ds ds = ds.
Proof. unfold beyond. rewrite skipn_all. apply app_nil_r. Qed.
(* A leaf of the class is in the hull. *)
Lemma member_in_hull : forall ds' cs l, In (ds', cs, l) (leaves (tprogram c)) -> is_member k (ds', cs, l) = true ->
  term I x [] F (ds', cs, l) <= term I x [] (fun (_ : tree_leaf) r => on_hull r) (beyond ds ds', cs, l).
Proof.
  intros ds' cs l Hin Hi. destruct (member_form _ _ _ Hin Hi) as (-> & HF & Hv). rewrite beyond_same. clear Hi.
  assert (Hd : Forall (lawful1 I) ds) by (eapply HL; eauto).
  assert (E : term I x [] F (ds, cs, l) = term I x [] (fun (_ : tree_leaf) r => F (mleaf m) r) (ds, cs, l)).
  { unfold term. f_equal. extensionality r. rewrite HF. auto. }
  rewrite E. clear E. unfold on_hull. unfold term. simpl.
  assert (HB : 0 <= B) by (specialize (Hf (0%nat, [])); lra).
  (* one condition of the hull after the other *)
  induction Hv as [|h v hs vs (n & Hn & Hd0) Hv IH].
  - right. f_equal. extensionality r. simpl. ring.
  - apply Rle_trans with (integ I ds (fun r => ind cs x r * (ind hs x r * F (mleaf m) r))); auto.
    set (out := term I x [] (fun (_ : tree_leaf) r => ind hs x r * F (mleaf m) r) (ds, cs ++ [n], l)).
    assert (Ho : out <= 0).
    { unfold out. assert (Hr : forall (l : tree_leaf) (r : list R), 0 <= ind hs x r * F (mleaf m) r <= B) by (intros; apply ind_mult_range; apply Hf).
      pose proof (leaf_never I _ ds (cs ++ [n]) l x x _ (fun _ _ => 0) B B 0 v Hd Hr ltac:(intros; lra) Hd0) as X.
      assert (Zero : term I x [] (fun (_ : tree_leaf) _ => 0) (ds, cs ++ [n], l) = 0).
      { unfold term. transitivity (integ I ds (fun _ => 0)); [f_equal; extensionality r; ring|]. apply integ_const. lra. }
      rewrite Zero in X. lra. }
    apply Rle_trans with (integ I ds (fun r => ind cs x r * (ind (h :: hs) x r * F (mleaf m) r)) + out); [|lra].
    unfold out, term. simpl app.
    rewrite <- (integ_add I ds _ _ B B); try (intros; repeat (apply ind_mult_range); apply Hf).
    apply (integ_mono I ds _ _ B (B + B)).
    + intros; repeat (apply ind_mult_range); apply Hf.
    + intros r. pose proof (ind_mult_range cs x r _ B (ind_mult_range (h :: hs) x r _ B (Hf (tree_output (mleaf m) x r)))) as A1.
      pose proof (ind_mult_range (cs ++ [n]) x r _ B (ind_mult_range hs x r _ B (Hf (tree_output (mleaf m) x r)))) as A2.
      unfold F, of_output. lra.
    + intros r _. rewrite ind_app. cbn [ind]. pose proof (ind_range cs x r) as R1.
      pose proof (ind_mult_range hs x r _ B (Hf (tree_output (mleaf m) x r))) as R2. fold (of_output f x (mleaf m) r) in R2. fold F in R2.
      set (a := ind cs x r) in *. set (b := ind hs x r * F (mleaf m) r) in *. assert (0 <= a * b) by (apply Rmult_le_pos; lra).
      destruct (holds_dec h x r) as [Y|N]; [|assert (holds n x r)].
      * fold b. destruct (holds_dec n x r); fold b; lra.
      * destruct h; simpl in Hn; inversion Hn; subst; simpl in *; rewrite ev_neg; lra.
      * destruct (holds_dec n x r); [|contradiction]. fold b. rewrite Rmult_0_l, Rmult_0_r, !Rmult_1_r. lra.
Qed.
Lemma lsum_filter : forall A (p : A -> bool) (g : A -> R) l, lsum g (filter p l) = lsum (fun a => if p a then g a else 0) l.
Proof. induction l; simpl; auto. destruct (p a); simpl; rewrite IHl; ring. Qed.

Lemma class_below : lsum (term I x [] F) here <= term I x [] F (ds, hull m, mleaf m).
Proof.
  apply Rle_trans with (integ I ds on_hull); [|right; unfold term; f_equal].
  rewrite hull_is_sum. unfold here. rewrite lsum_filter. apply lsum_le. intros [[ds' cs] l] Hin. destruct (is_member k (ds', cs, l)) eqn:E.
  - apply member_in_hull; auto.
  - apply term_pos. intros. apply on_hull_range.
Qed.
Lemma class_above : term I x [] F (ds, hull m, mleaf m) <= lsum (term I x [] F) here.
Proof.
  apply Rle_trans with (integ I ds on_hull); [right; unfold term; f_equal|].
  rewrite hull_is_sum. unfold here. rewrite lsum_filter. apply lsum_le. intros [[ds' cs] l] Hin. destruct (is_member k (ds', cs, l)) eqn:E.
  - destruct (member_form _ _ _ Hin E) as (-> & HF & _). rewrite beyond_same. unfold term. apply (integ_mono I ds _ _ B B).
    + intros. apply ind_mult_range. apply on_hull_range.
    + intros. apply ind_mult_range. apply Hf.
    + intros r _. simpl. apply Rmult_le_compat_l; [apply ind_range|]. rewrite HF. unfold on_hull.
      pose proof (ind_range (hull m) x r). pose proof (Hf (tree_output (mleaf m) x r)). unfold F, of_output.
      rewrite <- (Rmult_1_l (f _)) at 2. apply Rmult_le_compat_r; lra.
  - apply apart_zero; auto.
Qed.
End Merged.

(* A sum over leaves is that over those that are alone, and over each class. *)
Definition alone (p : list draw * list cond * tree_leaf) : bool := match tclass (snd p) with None => true | _ => false end.
Lemma lsum_classes : forall g ls n, (forall p, In p ls -> match tclass (snd p) with Some k => (k < n)%nat | None => True end) ->
  lsum g ls = lsum g (filter alone ls) + lsum (fun k => lsum g (filter (is_member k) ls)) (seq 0 n).
Proof.
  intros g ls n. induction ls as [|p ls IH]; intros H.
  - simpl. assert (Z : forall l, lsum (fun _ : nat => 0) l = 0) by (induction l; simpl; lra). rewrite Z. ring.
  - assert (E : lsum (fun k => lsum g (filter (is_member k) (p :: ls))) (seq 0 n) =
                (match tclass (snd p) with Some _ => g p | None => 0 end) + lsum (fun k => lsum g (filter (is_member k) ls)) (seq 0 n)).
    { assert (S1 : forall l, lsum (fun k => lsum g (filter (is_member k) (p :: ls))) l =
                lsum (fun k => if is_member k p then g p else 0) l + lsum (fun k => lsum g (filter (is_member k) ls)) l).
      { induction l as [|k l IHl]; simpl; [ring|]. simpl in IHl. rewrite IHl. destruct (is_member k p); simpl; ring. }
      rewrite S1. f_equal. specialize (H p (or_introl eq_refl)). unfold is_member. destruct (tclass (snd p)) as [j|].
      - assert (S2 : forall m a, lsum (fun k => if Nat.eqb j k then g p else 0) (seq a m) = if andb (Nat.leb a j) (Nat.ltb j (a + m)) then g p else 0).
        { induction m; intros a; simpl.
          - destruct (Nat.leb a j) eqn:E1, (Nat.ltb j (a + 0)) eqn:E2; simpl; auto. apply Nat.leb_le in E1. apply Nat.ltb_lt in E2. lia.
          - rewrite IHm. destruct (Nat.eqb_spec j a) as [->|Ne].
            + replace (Nat.leb (S a) a) with false by (symmetry; apply Nat.leb_gt; lia). rewrite Nat.leb_refl.
              replace (Nat.ltb a (a + S m)) with true by (symmetry; apply Nat.ltb_lt; lia). simpl. ring.
            + replace (Nat.leb (S a) j) with (Nat.leb a j); [replace (Nat.ltb j (S a + m)) with (Nat.ltb j (a + S m)) by (f_equal; lia); ring|].
              destruct (Nat.leb a j) eqn:E1; symmetry; [apply Nat.leb_le in E1; apply Nat.leb_le; lia|apply Nat.leb_gt in E1; apply Nat.leb_gt; lia]. }
        rewrite S2. simpl. replace (Nat.ltb j n) with true by (symmetry; apply Nat.ltb_lt; auto). auto.
      - generalize (seq 0 n). induction l as [|j l IHl]; cbn [lsum]; [auto|]. rewrite IHl. ring. }
    rewrite E. change (lsum g (p :: ls)) with (g p + lsum g ls). rewrite IH by (intros; apply H; right; auto).
    assert (A : lsum g (filter alone (p :: ls)) = (match tclass (snd p) with Some _ => 0 | None => g p end) + lsum g (filter alone ls)).
    { simpl. unfold alone at 1. destruct (tclass (snd p)); simpl; ring. }
    rewrite A. destruct (tclass (snd p)); ring.
Qed.

Hypothesis Hc : check_tree c = true.
Hypothesis HL : forall ds cs l, In (ds, cs, l) (leaves (tprogram c)) -> Forall (lawful1 I) ds.

Lemma class_at : forall k, (k < length (tclasses c))%nat -> complete false (tprogram c) = true /\ exists m, class_ok c k m = true.
Proof.
  intros k Hk. unfold check_tree in Hc. rewrite !andb_true_iff in Hc. destruct Hc as [_ H].
  assert (H' : complete false (tprogram c) && classes_ok c 0 (tclasses c) = true) by (destruct (tclasses c); [simpl in Hk; lia|auto]).
  apply andb_true_iff in H'. destruct H' as [H1 H2]. split; auto.
  assert (G : forall ms j i, classes_ok c j ms = true -> (i < length ms)%nat -> exists m, class_ok c (j + i) m = true).
  { induction ms as [|m ms IH]; intros j i Hj Hi; simpl in *; [lia|]. apply andb_true_iff in Hj. destruct Hj as [A B]. destruct i.
    - rewrite Nat.add_0_r. eauto.
    - rewrite <- Nat.add_succ_comm. apply IH; auto. lia. }
  apply (G (tclasses c) 0%nat k); auto.
Qed.

Theorem tree_private_on : forall x y f, tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> bounded f ->
  tree_mechanism I (tprogram c) x f <= exp (Q2R (tbound c)) * tree_mechanism I (tprogram c) y f.
Proof.
  intros x y f Hn [B Hf]. pose proof class_at as Hk. pose proof Hc as H. unfold check_tree in H. rewrite !andb_true_iff in H.
  destruct H as ((((Hl & Hs) & Hw) & Hleaf) & _). rewrite forallb_forall in Hleaf. unfold tree_mechanism.
  pose proof (wfb_wf _ _ _ Hw) as Hwf. assert (Hl' : tlength c <> O) by (destruct (tlength c); discriminate).
  change (run I (tprogram c) x [] (of_output f x) <= exp (Q2R (tbound c)) * run I (tprogram c) y [] (of_output f y)).
  rewrite (decompose I _ _ x [] _ B) by (auto; intros; apply Hf). rewrite (decompose I _ _ y [] _ B) by (auto; intros; apply Hf).
  assert (Hn' : forall p, In p (leaves (tprogram c)) -> match tclass (snd p) with Some k => (k < length (tclasses c))%nat | None => True end).
  { intros p Hp. specialize (Hleaf p Hp). unfold own_ok in Hleaf. destruct (tclass (snd p)); auto. apply Nat.ltb_lt. auto. }
  rewrite (lsum_classes _ _ _ Hn'), (lsum_classes (term I y [] (of_output f y)) _ _ Hn'), Rmult_plus_distr_l, !lsum_scale.
  apply Rplus_le_compat; apply lsum_le.
  - intros [[ds cs] l] Hin. apply filter_In in Hin. destruct Hin as [Hin Ha]. specialize (Hleaf _ Hin). unfold own_ok in Hleaf.
    unfold alone in Ha. simpl in *. destruct (tclass l); [discriminate|].
    apply (leaf_private ds cs l x y f B); auto; [eapply wfb_pos; eauto|eapply HL; eauto].
  - intros k Hin. apply in_seq in Hin. destruct (Hk k) as (Hcm & m & Hm); [lia|].
    eapply Rle_trans; [apply (class_below k m x f B Hf Hcm Hwf Hm HL)|].
    eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|apply (class_above k m y f B Hf Hcm Hwf Hm HL)]].
    destruct (class_parts k m Hm) as (_ & _ & _ & _ & (cs0 & l0 & Hin0)).
    apply (leaf_private (mdraws m) (hull m) (mleaf m) x y f B); auto; [|eapply wfb_pos; eauto|eapply HL; eauto].
    unfold class_ok in Hm. cbv zeta in Hm. rewrite !andb_true_iff in Hm. tauto.
Qed.
End Sound.

Theorem tree_private : forall c, check_tree c = true -> forall I, lawful I -> forall x y f,
  tree_neighbours (tscope c) (tintegers c) (tlength c) x y -> bounded f ->
  tree_mechanism I (tprogram c) x f <= exp (Q2R (tbound c)) * tree_mechanism I (tprogram c) y f.
Proof.
  intros c Hc I HI x y f Hn Hf. apply tree_private_on; auto.
  intros ds cs l Hin. pose proof Hc as H. unfold check_tree in H. rewrite !andb_true_iff in H. destruct H as (((_ & Hw) & _) & _).
  pose proof (wfb_pos _ _ _ Hw _ _ _ Hin) as Hp. eapply Forall_impl; [|apply Hp]. intros. apply HI. auto.
Qed.
